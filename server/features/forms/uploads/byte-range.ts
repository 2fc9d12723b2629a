// The part of a file that a request wants (RFC 9110 §14): browsers resume a download that broke off with it.

/** Bytes, the end exclusive. */
export interface ByteRange {
  start: number
  end: number
}

/** @returns undefined for the whole file, also where several parts are wanted, which a server may ignore */
export function readByteRange(header: string | null, bytes: number): ByteRange | 'outside' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const end = from === '' || to === '' ? bytes : Math.min(bytes, Number(to) + 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  return start < end ? { start, end } : 'outside'
}
