// Reads a file of blocked hosts in pieces, so that redirects go on while a list of a million hosts is read.

import { createReadStream } from 'node:fs'
import { createHostSet, type HostSet } from '../../../lib/host-set.ts'
import { parseBlocklistLine } from './parse-line.ts'

/** A piece is parsed in a millisecond, and requests are answered between two pieces. */
const PIECE_BYTES = 32 * 1024
/** Five million hosts take 64 MB of memory, and the list before them as much while it is replaced. */
const HOSTS_MAX = 5_000_000

/** A file that is no list of hosts. The message is for the operator. */
export class BlocklistError extends Error {}

export interface BlocklistFile {
  hosts: HostSet
  /** The number of lines with a word that is not a host. */
  unreadable: number
  /** The number of the first such line. */
  firstUnreadable: number | undefined
}

/** @throws BlocklistError, and the errors of the file system */
export async function readBlocklist(path: string): Promise<BlocklistFile> {
  const capacity = await countWords(path)
  if (capacity > HOSTS_MAX) throw new BlocklistError(`has more than ${HOSTS_MAX} hosts`)
  const hosts = createHostSet(capacity)
  const file: BlocklistFile = { hosts, unreadable: 0, firstUnreadable: undefined }
  let number = 0
  await readLines(path, (text) => {
    number++
    const line = parseBlocklistLine(text)
    for (const host of line.hosts) hosts.add(host)
    if (!line.unreadable) return
    file.unreadable++
    file.firstUnreadable ??= number
  })
  // A download that failed often leaves a page of HTML behind.
  if (file.unreadable > hosts.size())
    throw new BlocklistError(`is not a list of hosts: line ${file.firstUnreadable} has no host`)
  return file
}

/** Bytes up to the space separate words. */
const SPACE = 0x20
const NEWLINE = 0x0a

/** At least as many as the file has hosts. The second word of a line is not counted: the first is an address then. */
async function countWords(path: string): Promise<number> {
  let words = 0
  let inLine = 0
  let inWord = false
  for await (const piece of openPieces(path)) {
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i] as number
      const isWord = byte > SPACE
      if (isWord && !inWord && ++inLine !== 2) words++
      if (byte === NEWLINE) inLine = 0
      inWord = isWord
    }
  }
  return words
}

/** A line beyond this is cut. It holds no host anyway. */
const LINE_MAX = 64 * 1024

async function readLines(path: string, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of openPieces(path)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, LINE_MAX)
    for (const line of lines) onLine(line)
  }
  if (rest !== '') onLine(rest)
}

/** A stream hands over several pieces at once when the disk is quick, so each piece gets a turn of the event loop. */
async function* openPieces(path: string): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    yield piece as Buffer
    await new Promise((resolve) => setImmediate(resolve))
  }
}
