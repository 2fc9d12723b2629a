// A DNS server on 127.0.0.1, over UDP and TCP. It has the records that a test sets, and fails or lies about the names
// that a test names. It knows each top-level name, as resolvers do.

import dgram from 'node:dgram'
import net from 'node:net'
import * as dns from 'dns-packet'
import { findFreePort } from '../processes/free-port.ts'

export type DnsRecordType = 'TXT' | 'CNAME' | 'A' | 'AAAA' | 'NS'

/**
 * `silence`: no answer; `large`: 64 KB, over TCP; `broken`: bytes that are no answer. The wrong ones answer another
 * request, or another name.
 */
export type DnsFault = 'silence' | 'SERVFAIL' | 'REFUSED' | 'wrong id' | 'wrong name' | 'large' | 'broken'

export interface DnsServer {
  /** For `DNS_SERVERS`. */
  address: string
  /** The questions that came, such as `TXT _towpath.go.example.com`. */
  questions: string[]
  /** Replaces the records of this name and type; without values it removes them. */
  set(type: DnsRecordType, name: string, ...values: string[]): void
  /** For all questions about the name from now on; undefined ends it. `*` is for all names. */
  fail(name: string, fault: DnsFault | undefined): void
  stop(): Promise<void>
}

const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }
const CHAIN_MAX = 8
/** 64 KB are the most that DNS has over TCP. */
const LARGE_TEXTS = 230

let empty: Promise<DnsServer> | undefined

/** A server without records: it answers immediately, so that no test asks another machine, or waits. */
export const getEmptyDnsServer = () => (empty ??= startDnsServer({ isKept: false }))

/** @param options.isKept whether its sockets keep the process running */
export async function startDnsServer({ isKept = true } = {}): Promise<DnsServer> {
  const records = new Map<string, string[]>()
  const faults = new Map<string, DnsFault>()
  const questions: string[] = []
  const toKey = (type: string, name: string) => `${type} ${name.toLowerCase()}`

  function findRecords(type: string, name: string): dns.Answer[] {
    const found: dns.Answer[] = []
    let owner = name
    for (let depth = 0; depth < CHAIN_MAX; depth++) {
      const values = records.get(toKey(type, owner)) ?? []
      found.push(...values.map((data) => ({ type, name: owner, ttl: 1, data }) as dns.Answer))
      const [alias] = type === 'CNAME' ? [] : (records.get(toKey('CNAME', owner)) ?? [])
      if (values.length > 0 || alias === undefined) break
      found.push({ type: 'CNAME', name: owner, ttl: 1, data: alias })
      owner = alias
    }
    const isTopLevel = type === 'NS' && !name.includes('.')
    return isTopLevel ? [{ type: 'NS', name, ttl: 1, data: 'ns.nic.example' }] : found
  }

  /** @returns undefined for no answer */
  function answer(request: Buffer, isTcp: boolean): Buffer | undefined {
    const { id = 0, questions: asked = [] } = dns.decode(request)
    const [question] = asked
    if (!question) return undefined
    const { type, name } = question
    questions.push(`${type} ${name}`)
    const fault = faults.get('*') ?? faults.get(name.toLowerCase())
    if (fault === 'silence') return undefined
    if (fault === 'broken') return Buffer.concat([request.subarray(0, 2), Buffer.alloc(7, 0xff)])
    const packet = { type: 'response' as const, id, questions: asked, answers: findRecords(type, name) }
    const flags = dns.RECURSION_DESIRED | dns.RECURSION_AVAILABLE
    if (fault === 'SERVFAIL' || fault === 'REFUSED')
      return dns.encode({ ...packet, answers: [], flags: flags | CODES[fault] })
    if (fault === 'wrong id') return dns.encode({ ...packet, id: id ^ 1, flags })
    if (fault === 'wrong name')
      return dns.encode({ ...packet, questions: [{ ...question, name: `not-${name}` }], flags })
    if (fault === 'large') return encodeLarge(packet, flags, isTcp)
    const isKnown = [...records.keys()].some((key) => key.endsWith(` ${name.toLowerCase()}`))
    const isEmpty = packet.answers.length === 0
    return dns.encode({ ...packet, flags: isEmpty && !isKnown ? flags | CODES.NXDOMAIN : flags })
  }

  const { port, stop } = await listen(answer, isKept)
  return {
    address: `127.0.0.1:${port}`,
    questions,
    set(type, name, ...values) {
      if (values.length > 0) records.set(toKey(type, name), values)
      else records.delete(toKey(type, name))
    },
    fail(name, fault) {
      if (fault) faults.set(name.toLowerCase(), fault)
      else faults.delete(name.toLowerCase())
    },
    stop,
  }
}

/** Over UDP only the request to ask over TCP. */
function encodeLarge(packet: dns.Packet, flags: number, isTcp: boolean): Buffer {
  if (!isTcp) return dns.encode({ ...packet, answers: [], flags: flags | dns.TRUNCATED_RESPONSE })
  const name = packet.questions?.[0]?.name ?? ''
  const filler = Array.from({ length: LARGE_TEXTS }, (_, i) => ({
    type: 'TXT' as const,
    name,
    ttl: 1,
    data: `${i} `.padEnd(240, 'x'),
  }))
  return dns.encode({ ...packet, answers: [...filler, ...(packet.answers ?? [])], flags })
}

/** UDP and TCP on one port. */
async function listen(answer: (request: Buffer, isTcp: boolean) => Buffer | undefined, isKept: boolean) {
  const port = findFreePort()
  const udp = dgram.createSocket('udp4')
  udp.on('message', (request, { address, port }) => {
    const packet = answer(request, false)
    if (packet) udp.send(packet, port, address)
  })
  const sockets = new Set<net.Socket>()
  const tcp = net.createServer((socket) => {
    let received: Buffer = Buffer.alloc(0)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk as Buffer])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const length = received.readUInt16BE(0)
        const packet = answer(received.subarray(2, 2 + length), true)
        received = received.subarray(2 + length)
        if (packet)
          socket.write(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 255]), packet]))
      }
    })
  })
  await Promise.all([
    new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => tcp.listen(port, '127.0.0.1', resolve)),
  ])
  if (!isKept) {
    udp.unref()
    tcp.unref()
  }
  async function stop() {
    udp.close()
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => tcp.close(() => resolve()))
  }
  return { port, stop }
}
