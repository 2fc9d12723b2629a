// Times in fields of the browser's own kind, `datetime-local`.

const twoDigits = (n: number) => String(n).padStart(2, '0')

export function toLocal(iso: string | null): string {
  if (iso === null) return ''
  const at = new Date(iso)
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`
  return `${day}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`
}

export const toIso = (local: string) => (local === '' ? null : new Date(local).toISOString())
