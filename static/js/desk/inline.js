// Puts a part of another page where a link to it stands, once it is known; the link stays.

async function bring(place) {
  const answer = await fetch(place.dataset.inline, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const part = page.querySelector(place.dataset.part);
  if (part) place.replaceChildren(part);
}

for (const place of document.querySelectorAll("[data-inline]")) bring(place).catch(() => {});
