"use strict";
for (const tool of document.querySelectorAll("[data-script]")) tool.hidden = false;
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
for (const field of document.querySelectorAll("input[data-filter]")) {
  const items = document.getElementById(field.dataset.filter).querySelectorAll("[data-item]");
  field.addEventListener("input", () => {
    const wanted = field.value.toLocaleLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLocaleLowerCase().includes(wanted);
  });
}
const every = document.getElementById("every-card");
if (every) every.addEventListener("click", () => {
  const open = every.getAttribute("aria-pressed") !== "true";
  every.setAttribute("aria-pressed", String(open));
  every.textContent = open ? "Close all cards" : "Open all cards";
  for (const card of document.querySelectorAll("details.card")) card.open = open;
});
const target = () => {
  const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (found) found.scrollIntoView();
};
addEventListener("hashchange", target);
target();
