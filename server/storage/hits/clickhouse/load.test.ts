// A batch counts exactly once, whatever happens between Towpath and ClickHouse.

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { createRandom } from '../../../../tests/support/random.ts'
import { atScale, full } from '../../../../tests/support/suite.ts'
import type { Hit } from '../hit.ts'
import type { HitEngine } from '../hit-engine.ts'
import { openClickHouse } from './engine.ts'

setDefaultTimeout(60_000)

const MAY = Date.parse('2026-05-31T23:00:00Z')
const JUNE = Date.parse('2026-06-01T01:00:00Z')

let server: ClickHouseServer
let directory: string
let url: string
let database: string
const opened: HitEngine[] = []

beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
// The next files use it too.
afterAll(() => server.start(), CLICKHOUSE_START_MS)
beforeEach(async () => {
  await server.start()
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  url = await server.takeDatabase()
  database = new URL(url).pathname.slice(1)
})
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const open = async (since?: () => number) => {
  const engine = await openClickHouse({ urls: [url], scratchDir: directory, since })
  opened.push(engine)
  return engine
}
const toLines = (hits: Hit[]) => hits.map((hit) => `${JSON.stringify(hit)}\n`).join('')
const write = (name: string, content: string | Uint8Array) => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}
const writeBatch = (number: number, hits: Hit[], node = 'a') => ({
  node,
  number,
  path: write(`${node}-${number}.ndjson`, toLines(hits)),
})
const createHits = (count: number, part: Partial<Hit> = {}) =>
  Array.from({ length: count }, () => createHit(part))
const count = async () => Number(await server.query('SELECT count() FROM hits', database))
const countIds = async () => Number(await server.query('SELECT uniqExact(node, id) FROM hits', database))
/** Loads other nodes' batches until ClickHouse has forgotten the token of every earlier batch. */
const forgetTokens = async (engine: HitEngine) => {
  for (const node of ['x', 'y', 'z'])
    await engine.load(writeBatch(1, createHits(1, { workspaceId: 9 }), node))
  return 3
}
const shortenWindow = () =>
  server.query('ALTER TABLE hits MODIFY SETTING non_replicated_deduplication_window = 2', database)

describe('a batch whose answer was lost', () => {
  test.each(['INSERT INTO hits', 'INSERT INTO hit_marks'])('after %s counts once', async (statement) => {
    const engine = await open()
    const batch = writeBatch(1, createHits(10))
    await server.cutAnswerAfter(statement)
    await engine.load(batch).catch(() => undefined)
    expect(await count()).toBe(10)
    await engine.load(batch)
    await engine.load(writeBatch(2, createHits(5)))
    expect([await count(), await engine.mark('a')]).toEqual([15, 2])
  })

  full('counts once when another process loads it, as after a restart', async () => {
    const first = await open()
    await first.load(writeBatch(1, createHits(3)))
    const batch = writeBatch(2, createHits(10))
    await server.cutAnswerAfter('INSERT INTO hits')
    await first.load(batch).catch(() => undefined)
    const second = await open()
    expect(await second.mark('a')).toBe(1)
    await second.load(batch)
    expect([await count(), await second.mark('a')]).toEqual([13, 2])
  })

  test('counts once when ClickHouse has forgotten its token', async () => {
    const engine = await open()
    await shortenWindow()
    const batch = writeBatch(1, createHits(10))
    await server.cutAnswerAfter('INSERT INTO hits')
    await engine.load(batch).catch(() => undefined)
    const others = await forgetTokens(engine)
    await engine.load(batch)
    expect([await count(), await engine.mark('a')]).toEqual([10 + others, 1])
    // It was found whole, and not replaced.
    expect(await server.query(`SELECT count() FROM system.mutations WHERE database = '${database}'`)).toBe(
      '0\n',
    )
  })
})

describe('a batch of which only one month was stored', () => {
  const hits = () => [...createHits(10, { at: MAY }), ...createHits(10, { at: JUNE })]
  /** Leaves what an insert leaves that ended between its two months. */
  const loadHalf = async (engine: HitEngine, batch: ReturnType<typeof writeBatch>) => {
    await server.cutAnswerAfter('INSERT INTO hits')
    await engine.load(batch).catch(() => undefined)
    expect(await count()).toBe(20)
    await server.query("ALTER TABLE hits DROP PARTITION ID '202605'", database)
    expect(await count()).toBe(10)
  }

  test('is completed', async () => {
    const engine = await open()
    const batch = writeBatch(1, hits())
    await loadHalf(engine, batch)
    await engine.load(batch)
    expect([await count(), await countIds(), await engine.mark('a')]).toEqual([20, 20, 1])
  })

  test('is replaced when ClickHouse has forgotten its token; hits of others stay', async () => {
    const engine = await open()
    await shortenWindow()
    const batch = writeBatch(1, hits())
    await loadHalf(engine, batch)
    const others = await forgetTokens(engine)
    await engine.load(batch)
    expect([await count(), await countIds(), await engine.mark('a')]).toEqual([20 + others, 20 + others, 1])
  })

  test('and among which other hits lie is refused, not replaced with a loss', async () => {
    const engine = await open()
    await shortenWindow()
    const [first, ...middle] = createHits(5, { at: JUNE, workspaceId: 1 })
    const [last] = createHits(1, { at: MAY })
    await engine.load(writeBatch(1, middle))
    const batch = writeBatch(2, [first as Hit, last as Hit])
    await server.cutAnswerAfter('INSERT INTO hits')
    await engine.load(batch).catch(() => undefined)
    await server.query("ALTER TABLE hits DROP PARTITION ID '202605'", database)
    await forgetTokens(engine)
    await expect(engine.load(batch)).rejects.toThrow('lies among other hits')
    expect(await countIds()).toBeGreaterThanOrEqual(4 + 1 + 3)
  })
})

test('hits that were deleted under a known token are loaded again', async () => {
  const engine = await open()
  const batch = writeBatch(1, createHits(10))
  await engine.load(batch)
  await engine.erase([1])
  await server.query('TRUNCATE TABLE hit_marks', database)
  await (await open()).load(batch)
  expect([await count(), await engine.mark('a')]).toEqual([10, 1])
})

full('two processes that load the same batches at once count each of them once', async () => {
  const engines = await Promise.all([open(), open(), open()])
  const batches = Array.from({ length: 8 }, (_, n) =>
    writeBatch(n + 1, [...createHits(20, { at: MAY }), ...createHits(20, { at: JUNE })]),
  )
  await Promise.all(
    engines.map(async (engine) => {
      for (const batch of batches) await engine.load(batch)
    }),
  )
  expect([await count(), await countIds(), await engines[0]?.mark('a')]).toEqual([320, 320, 8])
})

describe('a kill while batches are loaded', () => {
  const random = createRandom('kills while batches are loaded')
  const ROUNDS = atScale({ quick: 1, full: 2, soak: 30 })
  const batches = () =>
    Array.from({ length: 20 }, (_, n) => writeBatch(n + 1, createHits(n % 5 === 0 ? 2000 : 20)))
  const total = 4 * 2000 + 16 * 20
  const loadRest = async (list: ReturnType<typeof batches>) => {
    const engine = await open()
    const mark = await engine.mark('a')
    for (const batch of list) if (batch.number > mark) await engine.load(batch)
    expect([await count(), await countIds(), await engine.mark('a')]).toEqual([total, total, 20])
  }

  test('of the loading process loses nothing and counts nothing twice', async () => {
    const list = batches()
    for (let round = 0; round < ROUNDS; round++) {
      const after = 1 + Math.floor(random() * 6)
      const child = Bun.spawn(
        [
          process.execPath,
          join(import.meta.dir, 'load.fixture.ts'),
          url,
          'a',
          ...list.map(({ path }) => path),
        ],
        { stdout: 'pipe', stderr: 'ignore' },
      )
      let seen = 0
      for await (const chunk of child.stdout) {
        seen += new TextDecoder().decode(chunk).split('\n').length - 1
        if (seen >= after) child.kill('SIGKILL')
      }
      await child.exited
    }
    await loadRest(list)
  })

  full('of ClickHouse loses nothing and counts nothing twice', async () => {
    const list = batches()
    for (let round = 0; round < ROUNDS; round++) {
      const engine = await open()
      const stopAt = (await engine.mark('a')) + 1 + Math.floor(random() * 4)
      for (const batch of list) {
        if (batch.number > stopAt) break
        const loaded = engine.load(batch).catch(() => undefined)
        if (batch.number === stopAt) await server.kill()
        await loaded
      }
      await server.start()
    }
    await loadRest(list)
  })
})

describe('what is in a batch', () => {
  test('a compressed batch is loaded by its name; one without its end is refused', async () => {
    const engine = await open()
    const whole = zstdCompressSync(toLines(createHits(2000)))
    await engine.load({ node: 'a', number: 1, path: write('1.ndjson.zst', whole) })
    expect(await count()).toBe(2000)
    const torn = write('2.ndjson.zst', whole.subarray(0, -1))
    await expect(engine.load({ node: 'a', number: 2, path: torn })).rejects.toThrow()
    await expect((await open()).load({ node: 'a', number: 2, path: torn })).rejects.toThrow()
    expect([await count(), await engine.mark('a')]).toEqual([2000, 1])
  })

  const good = JSON.stringify(createHit())
  const change = (field: string, value: string) =>
    good.replace(new RegExp(`"${field}":("[^"]*"|\\d+|null)`), `"${field}":${value}`)
  test.each([
    ['a visitor of more than 128 bits', change('visitor', '"340282366920938463463374607431768211461"')],
    ['a visitor below 0', change('visitor', '"-1"')],
    ['a visitor without digits', change('visitor', '""')],
    ['an id of more than 63 bits', change('id', '9223372036854775808')],
    ['an id of more than 64 bits', change('id', '18446744073709551621')],
    ['an id with a fraction', change('id', '1.5')],
    ['a moment that is no number', change('at', 'true')],
    ['no workspace', change('workspaceId', 'null')],
    ['no class', change('class', 'null')],
    ['an object for a text', change('country', '{"a":1}')],
    ['half a surrogate pair', change('country', '"\\ud800"')],
  ])('%s is refused, by a process that has just started too', async (_, line) => {
    const running = await open()
    await running.load(writeBatch(1, createHits(1)))
    for (const engine of [running, await open()]) {
      const path = write('broken.ndjson', `${good}\n${line}\n`)
      await expect(engine.load({ node: 'a', number: 2, path })).rejects.toThrow()
      expect([await count(), await engine.mark('a')]).toEqual([1, 1])
    }
  })

  test('hits recorded too long ago are left out', async () => {
    const engine = await open(() => JUNE)
    const old = [...createHits(2, { at: JUNE - 1 }), ...createHits(3, { at: JUNE })]
    const batch = writeBatch(1, old)
    await server.cutAnswerAfter('INSERT INTO hits')
    await engine.load(batch).catch(() => undefined)
    await engine.load(batch)
    await engine.load(writeBatch(2, old))
    expect([await count(), await engine.mark('a')]).toEqual([6, 2])
    expect((await engine.ask(createHitQuery()))[0]?.clicks).toBe(6)
  })

  full('a batch is one block of each month, however large it is', async () => {
    const engine = await open()
    // More than one block of what ClickHouse reads by default (`max_block_size`).
    const hits = atScale({ full: 70_000, soak: 1_000_000 })
    const path = write('large.ndjson', toLines(createHits(1)).repeat(hits))
    await engine.load({ node: 'a', number: 1, path })
    const parts = await server.query(
      `SELECT max(level), count(), sum(rows) FROM system.parts WHERE active AND table = 'hits' AND database = '${database}'`,
    )
    expect(parts.trim().split('\t').map(Number)).toEqual([0, 1, hits])
  })
})
