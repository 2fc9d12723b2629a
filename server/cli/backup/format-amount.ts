// Formats the size and duration of a backup or a restore.

/** @returns such as `12 files, 1.2 GB, in 8.1 s` */
export function formatAmount(files: readonly { bytes: number; linked?: boolean }[], ms: number): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const shared = files.filter(({ linked }) => linked).length
  const size = bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
  const sharing = shared > 0 ? ` (${shared} shared with the previous backup)` : ''
  return `${files.length} files${sharing}, ${size}, in ${(ms / 1000).toFixed(1)} s`
}
