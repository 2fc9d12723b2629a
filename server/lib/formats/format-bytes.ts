// Writes a number of bytes for a person.

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB']

/** @returns such as `1.5 GB`; 1 KB is 1,024 bytes */
export function formatBytes(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${UNITS[unit]}`
}
