// Saves a file that the page has in memory, as a download.

/** Browsers begin a download within this time; then the address of the file is released. */
const REVOKE_AFTER_MS = 60_000

export function saveFile({ file, name }: { file: Blob; name: string }) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS)
}
