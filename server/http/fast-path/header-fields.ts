// The header fields of one message (RFC 9112 §5), read strictly and without a copy of each.

/** `latin1Slice` takes half the time of `toString`. */
export type Bytes = Buffer & { latin1Slice(start?: number, end?: number): string }

/** Valid until the next message is read, because the memory is reused. */
export interface HeaderFields {
  source: Bytes
  /** Four numbers for each field: where its name begins and ends, and its value. */
  places: Int32Array
  count: number
}

/** More than browsers send, and less than the protocol allows. */
export const HEAD_BYTES_MAX = 16 * 1024
const FIELDS_MAX = 64

const [CR, LF, SPACE, TAB, COLON] = [13, 10, 32, 9, 58]
export const LETTERS_AND_DIGITS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const VISIBLE_CHARACTERS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')

/** A table: for each byte, whether it is one of the characters. */
export function createByteTable(characters: string): Uint8Array {
  const allowed = new Uint8Array(256)
  for (const character of characters) allowed[character.charCodeAt(0)] = 1
  return allowed
}

/** RFC 9110 §5.6.2 */
const TOKEN = createByteTable(`${LETTERS_AND_DIGITS}!#$%&'*+-.^_\`|~`)
/** Without the bytes above 127, which are ambiguous. */
const VALUE = createByteTable(`${VISIBLE_CHARACTERS} \t`)

export const createHeaderFields = (): HeaderFields => ({
  source: Buffer.alloc(0) as Bytes,
  places: new Int32Array(FIELDS_MAX * 4),
  count: 0,
})

/** @returns the end of the fields and their empty line, or -1 if they are unusual or incomplete */
export function readHeaderFields(fields: HeaderFields, bytes: Bytes, from: number): number {
  fields.source = bytes
  fields.count = 0
  let at = from
  while (at < bytes.length) {
    if (bytes[at] === CR) return bytes[at + 1] === LF ? at + 2 : -1
    at = readField(fields, bytes, at)
    if (at === -1) return -1
  }
  return -1
}

/** @returns the start of the next line, or -1 */
function readField(fields: HeaderFields, bytes: Bytes, from: number): number {
  const { places } = fields
  let at = from
  while (TOKEN[bytes[at] as number]) at++
  if (at === from || bytes[at] !== COLON || fields.count === FIELDS_MAX) return -1
  const place = fields.count++ * 4
  places[place] = from
  places[place + 1] = at++
  while (isBlank(bytes[at])) at++
  places[place + 2] = at
  while (VALUE[bytes[at] as number]) at++
  if (bytes[at] !== CR || bytes[at + 1] !== LF) return -1
  let end = at
  while (end > (places[place + 2] as number) && isBlank(bytes[end - 1])) end--
  places[place + 3] = end
  return at + 2
}

/** @param name in lower case. @returns the values joined as `Headers` joins them, or null */
export function findField({ source, places, count }: HeaderFields, name: string): string | null {
  let found: string | null = null
  for (let at = 0; at < count * 4; at += 4) {
    if (!isNamed(source, places[at] as number, places[at + 1] as number, name)) continue
    const value = source.latin1Slice(places[at + 2], places[at + 3])
    found = found === null ? value : `${found}, ${value}`
  }
  return found
}

const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB

export function startsWith(bytes: Buffer, start: Buffer, at: number): boolean {
  for (let i = 0; i < start.length; i++) if (bytes[at + i] !== start[i]) return false
  return true
}

/** @param name in lower case. Among the characters of a token, only letters have two cases */
export function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let i = 0; i < name.length; i++) {
    const wanted = name.charCodeAt(i)
    const byte = bytes[start + i] as number
    if (byte !== wanted && !(wanted >= 97 && wanted <= 122 && byte === wanted - 32)) return false
  }
  return true
}
