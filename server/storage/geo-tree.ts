// Searches the tree of a MaxMind file: finds the record of an address, without allocating memory on the way.
// https://maxmind.github.io/MaxMind-DB/ describes the format. `mmdb-lib` reads the records.

import { type IpWords, parseIPv4, parseIPv6 } from '../lib/parse-ip.ts'

/**
 * Finds the record of an address.
 * @returns a number that all addresses of the record share; 0 when there is no record
 */
export type RecordFinder = (address: string) => number

interface TreeShape {
  nodeCount: number
  recordSize: number
  ipVersion: number
}

/** A table has the node for the first bits of an IPv4 address, so a search needs only a few steps in the tree. */
const TABLE_BITS = 16

export function createRecordFinder(
  file: Buffer,
  { nodeCount, recordSize, ipVersion }: TreeShape,
): RecordFinder {
  const readChild = createChildReader(file, recordSize)
  const words: IpWords = new Uint32Array(4)
  let table: Uint32Array | undefined

  /** Follows bits of a word, the highest first, to a node or to a leaf. */
  function walk(from: number, word: number, bits: number): number {
    let node = from
    for (let shift = 31; shift > 31 - bits && node < nodeCount; shift--)
      node = readChild(node, (word >>> shift) & 1)
    return node
  }

  function createTable(): Uint32Array {
    let root = 0
    // An IPv6 tree has IPv4 addresses after 96 zero bits.
    if (ipVersion === 6) for (let bit = 0; bit < 96 && root < nodeCount; bit++) root = readChild(root, 0)
    return Uint32Array.from({ length: 2 ** TABLE_BITS }, (_, high) =>
      walk(root, high << TABLE_BITS, TABLE_BITS),
    )
  }

  return (address) => {
    let node = 0
    if (parseIPv4(address, words)) {
      table ??= createTable()
      const word = words[0] as number
      node = walk(table[word >>> TABLE_BITS] as number, word << TABLE_BITS, 32 - TABLE_BITS)
    } else if (ipVersion === 6 && parseIPv6(address, words)) {
      for (let i = 0; i < 4; i++) node = walk(node, words[i] as number, 32)
    }
    return node > nodeCount ? node : 0
  }
}

/** The two children of a node are adjacent, with 24, 28 or 32 bits each. */
function createChildReader(file: Buffer, recordSize: number): (node: number, bit: number) => number {
  const byte = (at: number) => file[at] as number
  const three = (at: number) => (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2)
  if (recordSize === 24) return (node, bit) => three(node * 6 + bit * 3)
  if (recordSize === 32) return (node, bit) => file.readUInt32BE(node * 8 + bit * 4)
  // With 28 bits, the byte between the two children has the highest four bits of each.
  return (node, bit) => {
    const middle = byte(node * 7 + 3)
    return (bit === 0 ? (middle & 0xf0) << 20 : (middle & 0x0f) << 24) | three(node * 7 + bit * 4)
  }
}
