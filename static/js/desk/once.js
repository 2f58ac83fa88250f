// What a page posts is sent once, however fast the clicks and keys are.

let leaving = false;

export const isLeaving = () => leaving;

document.addEventListener("submit", (event) => {
  if (event.target.method !== "post" || event.defaultPrevented) return;
  if (leaving) event.preventDefault();
  leaving = true;
});
window.addEventListener("pageshow", () => {
  leaving = false;
});
