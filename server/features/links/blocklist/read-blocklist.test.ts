import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { createHostSet } from '../../../lib/host-set.ts'
import type { CachedLink } from '../cache.ts'
import { createDestinationJudge } from './judge-destination.ts'
import { parseBlocklistLine } from './parse-line.ts'
import { readBlocklist } from './read-blocklist.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('a set of hosts is a set', () => {
  const host = fc.stringMatching(/^[a-z0-9.-]{1,12}$/)
  fc.assert(
    fc.property(fc.array(host), fc.array(host), (added, others) => {
      const set = createHostSet(added.length)
      for (const each of added) set.add(each)
      const expected = new Set(added)
      expect(set.size()).toBe(expected.size)
      for (const each of [...added, ...others]) expect(set.has(each)).toBe(expected.has(each))
    }),
  )
})

test('a set of hosts refuses more than it has room for', () => {
  const set = createHostSet(1)
  set.add('a.example')
  set.add('a.example')
  expect(() => set.add('b.example')).toThrow(RangeError)
})

test.each([
  ['bad.example', ['bad.example']],
  ['  Bad.Example.  # why', ['bad.example']],
  ['*.bad.example', ['bad.example']],
  ['.bad.example', ['bad.example']],
  ['0.0.0.0 a.example b.example', ['a.example', 'b.example']],
  [':: a.example', ['a.example']],
  ['127.0.0.1\tlocalhost', []],
  ['fe80::1%lo0 localhost', []],
  ['255.255.255.255 broadcasthost', []],
  ['# only a comment', []],
  ['', []],
  ['zip', ['zip']],
  ['0x7f.1', ['127.0.0.1']],
  ['2001:DB8::1', ['[2001:db8::1]']],
  ['straße.example', ['xn--strae-oqa.example']],
])('%p names %p', (line, hosts) => {
  expect(parseBlocklistLine(line)).toEqual({ hosts, unreadable: false })
})

test.each([
  'https://bad.example/',
  'bad.example/path',
  'bad.example:80',
  'user@bad.example',
  '||bad.example^',
  'two words',
  'a..b/..',
  '*',
  '<html>',
  `${'a.'.repeat(600)}example`,
  '1.2.3.4.5',
])('%p is unreadable', (line) => {
  expect(parseBlocklistLine(line)).toEqual({ hosts: [], unreadable: true })
})

test('no line makes the reader fail', () => {
  fc.assert(fc.property(fc.string(), (line) => void parseBlocklistLine(line)))
})

test('a large list is read whole, between other work', async () => {
  const count = atScale({ quick: 20_000, full: 200_000, soak: 1_000_000 })
  const path = join(dir, 'large.txt')
  const text = Array.from({ length: count }, (_, i) => `host-${i}.blocked.example`).join('\n')
  writeFileSync(path, text)
  let turns = 0
  const turn = () => {
    turns++
    timer = setImmediate(turn)
  }
  let timer = setImmediate(turn)
  const { hosts, unreadable } = await readBlocklist(path)
  clearImmediate(timer)
  expect([hosts.size(), unreadable]).toEqual([count, 0])
  // At least one turn of the event loop for each piece of 32 KiB, in each of the two passes.
  expect(turns).toBeGreaterThan((2 * text.length) / (32 * 1024) - 1)
  for (const i of [0, 1, count >> 1, count - 1]) expect(hosts.has(`host-${i}.blocked.example`)).toBe(true)
  expect(hosts.has(`host-${count}.blocked.example`)).toBe(false)
  expect(hosts.has('blocked.example')).toBe(false)
})

test('a link is judged once for each list, and not at all without one', () => {
  let [version, calls] = [0, 0]
  const isBlocked = createDestinationJudge({
    version: () => version,
    isBlocked({ hostname }) {
      calls++
      return hostname === 'bad.example'
    },
  })
  const link = {
    destinationUrl: 'https://ok.example/',
    expiredUrl: 'https://bad.example/over',
    geoTargeting: { DE: 'https://ok.example/de' },
    deviceTargeting: null,
    judgedBy: 0,
    blockedUrls: null,
  } as unknown as CachedLink
  for (let i = 0; i < 3; i++) expect(isBlocked(link, 'https://bad.example/over')).toBe(false)
  expect(calls).toBe(0)
  version = 1
  for (let i = 0; i < 3; i++) {
    expect(isBlocked(link, 'https://bad.example/over')).toBe(true)
    expect(isBlocked(link, 'https://ok.example/')).toBe(false)
  }
  expect(calls).toBe(3)
})
