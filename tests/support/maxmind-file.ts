// Writes small files in MaxMind's format (https://maxmind.github.io/MaxMind-DB/): a search tree of networks, their
// records, and the metadata.

import { parseNetwork } from '../../server/lib/ip-network.ts'

export type MmdbValue = string | number | boolean | MmdbValue[] | { [name: string]: MmdbValue }

export interface MmdbOptions {
  type?: string
  /** The bits of each of the two records of a node. */
  recordSize?: 24 | 28 | 32
  /** A file for version 6 holds addresses of both versions. */
  ipVersion?: 4 | 6
}

type Tree = { children: [Tree?, Tree?]; data?: number }

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const SEPARATOR_BYTES = 16

/** @param networks a record for each network (`203.0.113.0/24`, `2001:db8::/32`) @returns the bytes of the file */
export function createMaxMindFile(networks: Record<string, MmdbValue>, options: MmdbOptions = {}): Buffer {
  const { type = 'Test', recordSize = 24, ipVersion = 6 } = options
  const root: Tree = { children: [] }
  const records: Buffer[] = []
  let size = 0
  for (const [network, value] of Object.entries(networks)) {
    insert(root, toBits(network, ipVersion), size)
    const record = encode(value)
    records.push(record)
    size += record.length
  }
  const nodes = numberNodes(root)
  const tree = Buffer.concat([...nodes.keys()].map((node) => encodeNode(node, nodes, recordSize)))
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_780_000_000,
    database_type: type,
    description: { en: 'for tests' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.size,
    record_size: recordSize,
  })
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...records, MARKER, metadata])
}

/** The bits that all addresses of a network begin with. */
function toBits(network: string, ipVersion: 4 | 6): number[] {
  const [address, prefix] = parseNetwork(network) ?? []
  if (!address || prefix === undefined) throw new Error(`${network} is not a network`)
  const bits = address
    .toByteArray()
    .flatMap((byte) => Array.from({ length: 8 }, (_, i) => (byte >> (7 - i)) & 1))
  const leadingZeros = address.kind() === 'ipv4' && ipVersion === 6 ? 96 : 0
  return [...Array<number>(leadingZeros).fill(0), ...bits.slice(0, prefix)]
}

function insert(root: Tree, bits: number[], data: number) {
  let node = root
  for (const bit of bits) {
    node.children[bit] ??= { children: [] }
    node = node.children[bit] as Tree
  }
  node.data = data
}

/** The inner nodes with their numbers, in order. A leaf holds data and is no node of the file. */
function numberNodes(root: Tree): Map<Tree, number> {
  const nodes = new Map([[root, 0]])
  for (const node of nodes.keys())
    for (const child of node.children) if (child && child.data === undefined) nodes.set(child, nodes.size)
  return nodes
}

function encodeNode(node: Tree, nodes: Map<Tree, number>, recordSize: 24 | 28 | 32): Buffer {
  const [left = 0, right = 0] = [0, 1].map((bit) => {
    const child = node.children[bit]
    if (!child) return nodes.size
    return child.data === undefined ? (nodes.get(child) as number) : nodes.size + SEPARATOR_BYTES + child.data
  })
  const bytes = Buffer.alloc(recordSize / 4)
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0)
    bytes.writeUInt32BE(right, 4)
    return bytes
  }
  bytes.writeUIntBE(left & 0xffffff, 0, 3)
  bytes.writeUIntBE(right & 0xffffff, recordSize === 24 ? 3 : 4, 3)
  if (recordSize === 28) bytes[3] = ((left >> 24) << 4) | (right >> 24)
  return bytes
}

const TYPES = { string: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 }

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string')
    return encodeField(TYPES.string, Buffer.byteLength(value), Buffer.from(value))
  if (typeof value === 'boolean') return encodeField(TYPES.boolean, Number(value))
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(Number.isInteger(value) && value >= 0 ? 4 : 8)
    if (bytes.length === 4) bytes.writeUInt32BE(value)
    else bytes.writeDoubleBE(value)
    return encodeField(bytes.length === 4 ? TYPES.uint32 : TYPES.double, bytes.length, bytes)
  }
  if (Array.isArray(value)) return encodeField(TYPES.array, value.length, ...value.map(encode))
  const entries = Object.entries(value)
  return encodeField(TYPES.map, entries.length, ...entries.flatMap((entry) => entry.map(encode)))
}

/** A field: its type and its size in the head, then its content. @throws for sizes of 285 and more */
function encodeField(type: number, size: number, ...content: Buffer[]): Buffer {
  if (size >= 285) throw new Error(`${size} is too large for a test's file`)
  const [short, more] = size < 29 ? [size, []] : [29, [size - 29]]
  const head = type <= 7 ? [(type << 5) | short] : [short, type - 7]
  return Buffer.concat([Buffer.from([...head, ...more]), ...content])
}
