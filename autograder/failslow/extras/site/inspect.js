// Waits until the diagrams are drawn; then lists what is wrong with the page.
(async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const drawn = () => !all("pre.mermaid").length;
  for (let i = 0; i < 100 && !drawn(); ++i) await new Promise((r) => setTimeout(r, 50));
  const problems = [];
  if (!drawn()) problems.push("a diagram is not drawn");

  const width = document.documentElement.clientWidth;
  const whole = document.documentElement.scrollWidth;
  if (whole > width) {
    const wide = all("article *").filter(
      (e) => e.getBoundingClientRect().right > width + 1 && !e.closest("pre, table, .scroll"));
    const first = wide.length ? `: <${wide[0].tagName}> ${wide[0].textContent.slice(0, 40)}` : "";
    problems.push(`is ${whole} pixels wide on a phone of ${width}${first}`);
  }

  const headings = all("h1").length;
  if (headings > 1) problems.push(`has ${headings} headings of the first level`);
  if (all("img:not([alt]), svg[role=img]:not([aria-label]):not([aria-labelledby])").length) {
    problems.push("a picture has no text alternative");
  }
  const ids = all("article [id]").map((e) => e.id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice) problems.push(`the place ${twice} is there twice`);
  return problems;
})()
