// The sheets that open over the page, one at a time.

const sheets = [...document.querySelectorAll(".sheet")];

export function openSheet() {
  return sheets.find((sheet) => sheet.open);
}

export function toggleSheet(id) {
  const sheet = document.getElementById(id);
  sheet.open = !sheet.open;
}

export function closeSheet() {
  const open = openSheet();
  if (open) open.open = false;
  return open !== undefined;
}

export function watchSheets() {
  for (const sheet of sheets) sheet.addEventListener("toggle", () => enter(sheet));
  if (openSheet()) enter(openSheet());
}

function enter(sheet) {
  if (!sheet.open) return;
  for (const other of sheets) if (other !== sheet) other.open = false;
  sheet.lastElementChild.focus();
}
