// Click histories from their rows to analytics and counters, on both row engines.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { countLockWaits } from '../../../../tests/support/postgres/count-lock-waits.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { hasPendingImports } from '../../hits/batches/hit-import.ts'
import {
  eraseImportedClicks,
  eraseUndoneHistories,
  type HistoryErasureNeeds,
} from './erase-imported-clicks.ts'
import { createImportRow, type HistorySetup, runHistory, toHistoryRow } from './history.fixture.ts'
import type { HistoryRow } from './messages.ts'

const START = Date.UTC(2025, 0, 10)
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

async function waitUntilTakenIn(server: TestServer) {
  await until('the hit worker to take all chunks', () => !hasPendingImports(server.dataDir))
  await server.waitUntilShipped()
}

const toHouse = ({ app, dataDir }: TestServer, ws: TestWorkspace): HistorySetup => ({
  db: app.db,
  dataDir,
  workspaceId: ws.id,
})

const toErasure = ({ app, dataDir, now }: TestServer): HistoryErasureNeeds => ({
  db: app.db,
  dataDir,
  now,
  node: app.spool.node,
  eraseImportedHits: app.hitWorker.eraseImportedHits,
  findLastClickTimes: app.hitWorker.findLastClickTimes,
})

async function undo(server: TestServer, house: HistorySetup, importId: number) {
  await house.db.write((connection) =>
    connection.updateTable('imports').set({ stage: 'undo' }).where('id', '=', importId).execute(),
  )
  await eraseImportedClicks(toErasure(server), { importId, workspaceId: house.workspaceId })
}

/** Keeps every transaction waiting that deletes the days of an import, until `release` is called. */
async function holdDays({ db }: HistorySetup, importId: number) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holder = db.write(async (connection) => {
    const days = connection.selectFrom('import_days').select('link_id').where('import_id', '=', importId)
    await days.forUpdate().execute()
    held.resolve()
    await released.promise
  })
  await held.promise
  return { holder, release: released.resolve }
}

const getLink = async (ws: TestWorkspace, id: number) => (await ws.api(`/links/${id}`)).json.data

onBothEngines('an imported history', (server) => {
  const askClicks = async (ws: TestWorkspace, query = '') =>
    (await ws.api(`/analytics/clicks?interval=all${query}`)).json.data

  test('is described as live hits are, with clicks and no visitors, and without any address', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: `described-${ws.id}` })
    const house = toHouse(server(), ws)
    const importId = await createImportRow(house)
    const address = '81.2.69.160'
    await runHistory(house, importId, [
      toHistoryRow(link.id, {
        at: START,
        address,
        userAgent: IPHONE,
        referrer: 'https://www.facebook.com/groups/1?x=1',
        visitedUrl: 'https://go.example/a?utm_source=news',
        destinationUrl: 'https://shop.example/?utm_medium=mail&utm_source=other#x',
      }),
      toHistoryRow(link.id, {
        at: START + 1,
        country: 'United States',
        city: 'Austin',
        browser: 'Chrome Mobile',
        os: 'Mac OS X 10.15',
        device: 'smartphone',
        referrer: 't.co',
        trigger: 'qr',
      }),
      toHistoryRow(link.id, { at: START + 2, userAgent: 'Googlebot/2.1' }),
      toHistoryRow(link.id, { at: START + 3, bot: true, userAgent: IPHONE }),
    ])
    await waitUntilTakenIn(server())
    expect(await askClicks(ws)).toMatchObject({ clicks: 2, visitors: 0 })
    expect(await askClicks(ws, '&class=all')).toMatchObject({ clicks: 4, visitors: 0 })
    for (const [column, values] of Object.entries({
      country: ['GB', 'US'],
      continent: ['EU', 'NA'],
      city: ['Austin', 'Unknown'],
      browser: ['Chrome', 'Safari'],
      os: ['iOS', 'macOS'],
      device: ['Mobile'],
      referrer: ['facebook.com', 't.co'],
      referrerUrl: ['https://t.co/', 'https://www.facebook.com/groups/1'],
      utmSource: ['Unknown', 'news'],
      utmMedium: ['Unknown', 'mail'],
      trigger: ['link', 'qr'],
    })) {
      const rows: Record<string, string>[] = await askClicks(ws, `&groupBy=${column}`)
      expect(rows.map((row) => row[column]).sort()).toEqual(values)
    }
    expect(await getLink(ws, link.id)).toMatchObject({
      clicks: 2,
      lastClickedAt: new Date(START + 1).toISOString(),
    })
    const files = readdirSync(server().dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    expect(files.length).toBeGreaterThan(3)
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name)).includes(address)).toBe(false)
  })

  test('refuses rows of the future, of unknown links, and those that a source cannot read, each by its row', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const house = toHouse(server(), ws)
    const importId = await createImportRow(house)
    const now = START + DAY_MS
    const broken = { field: 'date', value: '31.31.2025', message: 'No date' }
    await runHistory(
      house,
      importId,
      [
        toHistoryRow(link.id, { at: now + 1 }, 2),
        toHistoryRow(link.id, { at: Number.NaN }, 3),
        { row: 4, keys: [], click: null, problems: [broken] },
        toHistoryRow(0, { at: START, slug: 'gone' }, 5),
        toHistoryRow(0, { at: START, slug: 'gone' }, 6),
        toHistoryRow(link.id, { at: now }, 7),
      ],
      { now },
    )
    const rows = await house.db.read
      .selectFrom('import_rows')
      .select(['row', 'kind', 'outcome', 'field', 'value', 'message'])
      .where('import_id', '=', importId)
      .orderBy('row')
      .execute()
    expect(rows.map(({ row, field, value }) => [row, field, value])).toEqual([
      [2, 'date', new Date(now + 1).toISOString()],
      [3, 'date', null],
      [4, 'date', '31.31.2025'],
      [5, 'link', 'gone'],
    ])
    expect(
      rows.every(({ kind, outcome, message }) => kind === 'click' && outcome === 'failed' && message),
    ).toBe(true)
    await waitUntilTakenIn(server())
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 1 })
  })

  test('counts clicks past their retention on the link, and stores none of them', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const house = toHouse(server(), ws)
    const importId = await createImportRow(house)
    const rows = [3, 1, 2].map((n) =>
      toHistoryRow(link.id, { at: START + n, utmTerm: `aged-${ws.id}` } as never),
    )
    await runHistory(house, importId, rows, { since: START + 3 })
    await waitUntilTakenIn(server())
    expect(await getLink(ws, link.id)).toMatchObject({
      clicks: 3,
      lastClickedAt: new Date(START + 3).toISOString(),
    })
    expect(await askClicks(ws)).toMatchObject({ clicks: 1 })
    await undo(server(), house, importId)
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 0, lastClickedAt: null })
  })

  test('is taken back with an undo, which leaves live clicks and other imports', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: `undone-${ws.id}` })
    const house = toHouse(server(), ws)
    const rows = Array.from({ length: 30 }, (_, n) => toHistoryRow(link.id, { at: START + n * 1000 }))
    const first = await createImportRow(house, [[link.id, 100]])
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 100, clicksBefore: 100 })
    await runHistory(house, first, rows.slice(0, 10))
    const second = await createImportRow(house, [[link.id, 110]])
    await runHistory(house, second, rows, { maxHits: 7 })
    await waitUntilTakenIn(server())
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 110, clicksBefore: 80 })
    await server().click(link.slug)
    await server().waitUntilShipped()
    const clicked = await getLink(ws, link.id)
    expect(clicked).toMatchObject({ clicks: 111, clicksBefore: 80 })
    await undo(server(), house, second)
    expect(await askClicks(ws)).toMatchObject({ clicks: 11, visitors: 1 })
    expect(await getLink(ws, link.id)).toMatchObject({
      clicks: 101,
      clicksBefore: 90,
      lastClickedAt: clicked.lastClickedAt,
    })
    await undo(server(), house, first)
    await eraseUndoneHistories(toErasure(server()))
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 1, clicksBefore: 0 })
    expect(await askClicks(ws)).toMatchObject({ clicks: 1 })
    await expect(runHistory(house, first, rows)).rejects.toThrow('does not run')
  })

  test('is erased by a later run where the first one was interrupted, from batches and from chunks that wait too', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const house = toHouse(server(), ws)
    const rows = Array.from({ length: 20 }, (_, n) => toHistoryRow(link.id, { at: START + n }))
    const importId = await createImportRow(house, [[link.id, 30]])
    await runHistory(house, importId, rows.slice(0, 10), { maxHits: 3 })
    await waitUntilTakenIn(server())
    const listBatchesWith = () =>
      readdirSync(server().dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.includes('ndjson'))
        .filter(({ parentPath, name }) =>
          readFileSync(join(parentPath, name)).includes(`"importId":${importId}}`),
        )
    expect(listBatchesWith()).not.toEqual([])
    await runHistory(house, importId, rows, { maxHits: 3 })
    const needs = toErasure(server())
    const findLastClickTimes = () => Promise.reject(new Error('interrupted'))
    const hits = { importId, workspaceId: ws.id }
    await house.db.write((connection) =>
      connection.updateTable('imports').set({ stage: 'undo' }).where('id', '=', importId).execute(),
    )
    await expect(eraseImportedClicks({ ...needs, findLastClickTimes }, hits)).rejects.toThrow('interrupted')
    expect(await askClicks(ws)).toMatchObject({ clicks: 0 })
    expect(listBatchesWith()).toEqual([])
    await eraseUndoneHistories(needs)
    await eraseUndoneHistories({ ...needs, findLastClickTimes })
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 0, clicksBefore: 0, lastClickedAt: null })
    expect(
      await house.db.read.selectFrom('import_days').selectAll().where('import_id', '=', importId).execute(),
    ).toEqual([])
  })
})

onBothEngines.quick('a history', (server) => {
  test('is taken back once where nodes that share a database do so at the same time', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const house = toHouse(server(), ws)
    const importId = await createImportRow(house)
    await runHistory(
      house,
      importId,
      [1, 2, 3].map((n) => toHistoryRow(link.id, { at: START + n })),
    )
    await waitUntilTakenIn(server())
    await house.db.write((connection) =>
      connection.updateTable('imports').set({ stage: 'undo' }).where('id', '=', importId).execute(),
    )
    const nodes = [1, 2, 3].map((n) => `${ws.id}-${n}`)
    const eraseAtAll = () =>
      Promise.all(
        nodes.map((node) =>
          eraseImportedClicks({ ...toErasure(server()), node }, { importId, workspaceId: ws.id }),
        ),
      )
    if (house.db.engine === 'sqlite') await eraseAtAll()
    else {
      const { holder, release } = await holdDays(house, importId)
      const erased = eraseAtAll()
      // The server's own job may be one more.
      const isWaiting = async () => (await countLockWaits(house.db)) >= nodes.length
      await until('the transactions to wait for a lock', isWaiting)
      release()
      await Promise.all([holder, erased])
    }
    expect(await getLink(ws, link.id)).toMatchObject({ clicks: 0, clicksBefore: 0, lastClickedAt: null })
  })
})

onBothEngines('histories in parts, in any order, repeated and undone', (server) => {
  /** A file has what its tool had at a moment: each link and day up to some click. */
  interface Part {
    /** How many clicks of the whole history the file has. */
    length: number
    isBackward: boolean
    total: number | null
    /** The reader is stopped before or after this message, and goes on. */
    stopAt: number
    isStoppedAfter: boolean
    undo: boolean
  }
  const anyPart: fc.Arbitrary<Part> = fc.record({
    length: fc.integer({ min: 0, max: 40 }),
    isBackward: fc.boolean(),
    total: fc.option(fc.integer({ min: 0, max: 60 })),
    stopAt: fc.integer({ min: 0, max: 12 }),
    isStoppedAfter: fc.boolean(),
    undo: fc.boolean(),
  })
  const anyHistory = fc.record({
    /** Hours between clicks, and whose they are. */
    clicks: fc.array(
      fc.record({
        hours: fc.integer({ min: 0, max: 20 }),
        link: fc.integer({ min: 0, max: 2 }),
        bot: fc.boolean(),
      }),
      { minLength: 1, maxLength: 40 },
    ),
    parts: fc.array(anyPart, { minLength: 1, maxLength: 4 }),
    maxHits: fc.integer({ min: 1, max: 9 }),
  })

  test('give the totals of a plain recount', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async ({ clicks, parts, maxHits }) => {
        const ws = await server().createWorkspace()
        const house = toHouse(server(), ws)
        const links = [await ws.createLink(), await ws.createLink(), await ws.createLink()]
        let at = START
        const all = clicks.map(({ hours, link, bot }) => {
          at += hours * 60 * 60_000
          return { linkId: links[link].id as number, at, bot }
        })
        /** The clicks of each import. */
        const brought: { importId: number; clicks: typeof all; total: number | null }[] = []
        for (const part of parts) {
          const file = all.slice(0, part.length)
          const totals =
            part.total === null ? [] : links.map((link): [number, number] => [link.id, part.total ?? 0])
          const importId = await createImportRow(house, totals)
          const rows = (part.isBackward ? file.toReversed() : file).map(({ linkId, ...click }) =>
            toHistoryRow(linkId, click),
          )
          await runInterrupted(house, importId, rows, { ...part, maxHits })
          const isNew = (click: (typeof all)[number]) =>
            !brought.some((other) => other.clicks.includes(click))
          brought.push({ importId, clicks: file.filter(isNew), total: part.total })
          if (!part.undo) continue
          await undo(server(), house, importId)
          brought.pop()
        }
        await waitUntilTakenIn(server())
        const days: Record<string, number> = {}
        for (const { id } of links) {
          const its = brought.flatMap((each) => each.clicks).filter(({ linkId }) => linkId === id)
          const people = its.filter(({ bot }) => !bot)
          const total = Math.max(0, ...brought.map((each) => each.total ?? 0))
          const clicksBefore = Math.max(0, total - its.length)
          for (const click of people) {
            const day = new Date(click.at).toISOString().slice(0, 10)
            days[day] = (days[day] ?? 0) + 1
          }
          const { data } = (await ws.api(`/links/${id}`)).json
          expect([data.clicks, data.clicksBefore]).toEqual([clicksBefore + people.length, clicksBefore])
          const last = Math.max(0, ...people.map((click) => click.at))
          expect(data.lastClickedAt).toBe(last === 0 ? null : new Date(last).toISOString())
        }
        const answer = await ws.api(
          '/analytics/clicks?start=2025-01-01&end=2025-12-31&groupBy=time&granularity=day',
        )
        const found = answer.json.data.filter(({ clicks }: { clicks: number }) => clicks > 0)
        expect(
          Object.fromEntries(
            found.map((row: { time: string; clicks: number }) => [row.time.slice(0, 10), row.clicks]),
          ),
        ).toEqual(days)
      }),
      { numRuns: atScale({ full: 3, soak: 100 }) },
    )
  }, 1_200_000)

  async function runInterrupted(
    house: HistorySetup,
    importId: number,
    rows: HistoryRow[],
    { stopAt, isStoppedAfter, maxHits }: { stopAt: number; isStoppedAfter: boolean; maxHits: number },
  ) {
    let messages = 0
    const stop = () => {
      if (messages++ === stopAt) throw new Error('stopped')
    }
    const options = isStoppedAfter ? { after: stop } : { before: stop }
    await runHistory(house, importId, rows, { maxHits, ...options }).catch((error) => {
      if (error.message !== 'stopped') throw error
    })
    await runHistory(house, importId, rows, { maxHits })
  }
})
