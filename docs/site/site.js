// What the pages do: copy code, scroll by keyboard, draw diagrams.
const dark = matchMedia("(prefers-color-scheme: dark)").matches;

for (const block of navigator.clipboard ? document.querySelectorAll("main .codehilite") : []) {
  const code = block.querySelector("pre:not(.drawing) code");
  if (code) {
    const button = document.createElement("button");
    button.textContent = "Copy";
    button.onclick = async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    };
    block.append(button);
  }
}

function makeFocusable() {
  for (const box of document.querySelectorAll("main pre, main .scroll")) {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  }
}
makeFocusable();
addEventListener("resize", makeFocusable);

const pages = document.querySelector(".pages");
const here = pages && pages.querySelector("[aria-current]");
if (here) {
  pages.parentElement.scrollTop = here.offsetTop - innerHeight / 2;
}

if (window.mermaid) {
  mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "default", themeVariables: dark ? { edgeLabelBackground: "#1b2028" } : {} });
  mermaid.run().then(() => {
    for (const drawn of document.querySelectorAll(".mermaid svg")) {
      drawn.style.minWidth = `min(34rem, ${drawn.style.maxWidth})`; // a phone scrolls it
    }
    makeFocusable();
  });
}
