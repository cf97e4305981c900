// What Material's pages leave to us: names for landmarks, and scrolling without a mouse.
const all = (selector) => [...document.querySelectorAll(selector)];

function nameLandmarks() {
  all(".md-search").forEach((e) => e.setAttribute("aria-label", "Search dialog"));
  all(".md-code__nav").forEach((e, index) => {
    e.setAttribute("aria-label", `Actions of code block ${index + 1}`);
  });
  // A section with a page of its own has its name in a link, and an empty label.
  for (const nav of all("nav[aria-labelledby]")) {
    const label = document.getElementById(nav.getAttribute("aria-labelledby"));
    const link = nav.parentElement.querySelector("a.md-nav__link");
    if (label && !label.textContent.trim() && link) {
      nav.removeAttribute("aria-labelledby");
      nav.setAttribute("aria-label", link.textContent.trim());
    }
  }
}

// What is wider than its place can be reached with Tab, and scrolled with the arrow keys.
function reachScrolled() {
  all(".md-typeset__scrollwrap, .scroll").forEach((e, index) => {
    if (e.scrollWidth > e.clientWidth) {
      e.tabIndex = 0;
      e.setAttribute("role", "region");
      e.setAttribute("aria-label", `Wide part ${index + 1}: scroll with the arrow keys`);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) e.removeAttribute(name);
    }
  });
}

addEventListener("load", () => {
  nameLandmarks();
  reachScrolled();
});
addEventListener("resize", reachScrolled);
// A folded part has no width before it is opened.
addEventListener("toggle", reachScrolled, true);
