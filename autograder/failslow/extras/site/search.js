// Types WORDS into the search box, as a reader does, and lists the addresses of the results.
(async () => {
  const box = document.querySelector('[data-md-component="search-query"]');
  if (!box) return [];
  document.querySelector('[data-md-toggle="search"]').click();
  box.focus();
  box.value = WORDS;
  box.dispatchEvent(new Event("focus"));
  box.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
  const found = () => [...document.querySelectorAll(".md-search-result__link")];
  for (let i = 0; i < 100 && !found().length; ++i) await new Promise((r) => setTimeout(r, 50));
  return found().map((link) => link.href);
})()
