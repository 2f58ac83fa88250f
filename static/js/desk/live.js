// Keeps the parts of a page that change fresh while somebody looks at them, but for one in which
// the focus is.

const EVERY = 20_000;
const shown = document.querySelectorAll("[data-live][id]");

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of shown) {
    const fresh = page.getElementById(part.id);
    if (fresh && !part.contains(document.activeElement)) part.replaceChildren(...fresh.childNodes);
  }
}

if (shown.length) setInterval(() => refresh().catch(() => {}), EVERY);
