// Keeps the figures of a running study fresh while somebody looks at them.

const EVERY = 20_000;
const shown = document.getElementById("live");

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (fresh) shown.replaceChildren(...fresh.childNodes);
}

if (shown) setInterval(() => refresh().catch(() => {}), EVERY);
