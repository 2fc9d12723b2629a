// Writes the numbers of messages as a language writes them: `65.536`, `10 MB`, `1,5 Mo`.

const KIB = 1024
const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

export const formatNumber = (value: number, language: string) => new Intl.NumberFormat(language).format(value)

/** 10 MiB are `10 MB` to people: no sender's file manager counts more exactly. Rounded down: the limit is never less. */
export function formatFileSize(bytes: number, language: string): string {
  let value = bytes
  let unit = 0
  for (; value >= KIB && unit < UNITS.length - 1; unit++) value /= KIB
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[unit],
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
    roundingMode: 'floor',
  } as Intl.NumberFormatOptions).format(value)
}
