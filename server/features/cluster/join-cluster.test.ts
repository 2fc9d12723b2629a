// Admission to the nodes on one PostgreSQL. Each refusal is a sentence with what to do.

import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import { until } from '../../../tests/support/until.ts'
import { log } from '../../lib/log.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { acceptSecret } from './instance.ts'
import { createNodesFixture, SECRET } from './nodes.fixture.ts'

const { openConnection, openNode, openPlace, newDirectory, end } = createNodesFixture()
afterEach(end)

const moveBack = (column: 'left_at' | 'seen_at', node: string, ms: number) =>
  sql`update nodes set ${sql.ref(column)} = ${sql.ref(column)} - ${ms}::bigint where node = ${node}`

const readRefusal = (opening: Promise<unknown>) =>
  opening.then(
    () => 'joined',
    (error: Error) => error.message,
  )

describe('with hits in DuckDB', () => {
  const DUCKDB = { hitStore: 'duckdb' } as const

  test.each([
    ['duckdb', 'duckdb'],
    ['duckdb', 'clickhouse'],
    ['clickhouse', 'duckdb'],
  ] as const)('on the first node (%s) or the second (%s), the second is refused', async (one, other) => {
    const { url, findRow } = await openPlace()
    const first = await openNode(url, { hitStore: one })
    expect(await readRefusal(openNode(url, { node: 'second', hitStore: other }))).toBe(
      `Another Towpath server uses this PostgreSQL database (node ${first.id}, version 1.0.0), and hits in DuckDB belong ` +
        'to one server: each would report its own clicks only. Set CLICKHOUSE_URL on all servers, or stop the other one.',
    )
    expect(await findRow('second')).toBeUndefined()
  })

  test('of several that start at once, one starts', async () => {
    const { url } = await openPlace()
    await (await openNode(url)).close()
    const connections = await Promise.all([1, 2, 3, 4].map(() => openConnection(url)))
    const starts = await Promise.allSettled(connections.map((db) => openNode(url, { ...DUCKDB, db })))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('a node waits for the end of one that was killed, and starts then', async () => {
    const { url, kill, age, findRow } = await openPlace()
    const first = await openNode(url, DUCKDB)
    await kill(first.id)
    const said = spyOn(log, 'info').mockImplementation(() => {})
    const second = openNode(url, { ...DUCKDB, waitMs: 60_000 })
    await until('it to wait', () => said.mock.calls.length > 0)
    said.mockRestore()
    await age(first.id, 3_000)
    expect(await findRow((await second).id)).toMatchObject({ left_at: null })
  })

  test('a node follows one that has left', async () => {
    const { url } = await openPlace()
    await (await openNode(url, DUCKDB)).close()
    await openNode(url, DUCKDB)
  })
})

describe('a node with another secret', () => {
  test('is refused with a sentence that shows no secret', async () => {
    const { url, db } = await openPlace()
    await openNode(url)
    const other = 'another secret of forty characters or so'
    const refusal = await readRefusal(openNode(url, { secret: other }))
    expect(refusal).toContain('The secret of this server is not that of the other servers on this database.')
    expect(refusal).toContain('one TOWPATH_SECRET')
    expect(refusal).toContain('npx towpath secret accept')
    const { secret_fingerprint: kept } = await db.read
      .selectFrom('instance')
      .selectAll()
      .executeTakeFirstOrThrow()
    for (const text of [refusal, kept ?? '']) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain(other)
    }
    await openNode(url)
  })

  test('is refused also when all nodes have left', async () => {
    const { url } = await openPlace()
    await (await openNode(url)).close()
    expect(await readRefusal(openNode(url, { secret: SECRET.toUpperCase() }))).toContain('TOWPATH_SECRET')
  })

  test('starts after the operator accepted the new secret, and the old one is refused then', async () => {
    const { url, db } = await openPlace()
    const first = await openNode(url)
    const secret = 'the next secret of forty characters or so'
    expect(await acceptSecret(db, secret)).toEqual([first.id])
    await first.close()
    expect(await acceptSecret(db, secret)).toEqual([])
    await openNode(url, { secret })
    expect(await readRefusal(openNode(url))).toContain('TOWPATH_SECRET')
  })

  test('never starts beside one that starts first at the same moment', async () => {
    const { url } = await openPlace()
    const starts = await Promise.allSettled(
      ['a', 'b', 'c'].map((letter) => openNode(url, { secret: letter.repeat(40) })),
    )
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('leaves another fingerprint of the same secret in each installation', async () => {
    const prints = [await openPlace(), await openPlace()].map(async ({ url, db, change }, i) => {
      await change(sql`update instance set name = ${`installation ${i}`}`)
      await openNode(url)
      return (await db.read.selectFrom('instance').selectAll().executeTakeFirstOrThrow()).secret_fingerprint
    })
    const [one, other] = await Promise.all(prints)
    expect(one).not.toBe(other as string)
  })
})

describe('the id of a node that runs elsewhere', () => {
  test('is refused: the directory is a copy', async () => {
    const { url } = await openPlace()
    const first = await openNode(url)
    expect(await readRefusal(openNode(url, { node: first.id }))).toBe(
      `Another running server has the id of this one (node ${first.id}): one of their directories is a copy of the ` +
        'other. Give this server an empty DATA_DIR. If it takes the place of the other one, stop that first.',
    )
  })

  test('is taken over when that is silent, and the other one ends when it returns', async () => {
    const { url, age, findRow } = await openPlace()
    const first = await openNode(url, { beatMs: 60_000 })
    await until('its first heartbeat', () => first.getOthersShippedUntil() > 0)
    await age(first.id, 3_000)
    const second = await openNode(url, { node: first.id })
    const { process } = (await findRow(first.id)) ?? {}
    const returned = await openNode(url, { node: 'returned' })
    await until('both to be seen', () => returned.countOthers() === 1)
    expect(second.state.replaced).toEqual([])
    expect((await findRow(first.id))?.process).toBe(process as string)
    await first.close()
    expect(await findRow(first.id)).toMatchObject({ left_at: null })
  })

  test('is taken over at once from an earlier process of the same directory', async () => {
    const { url, kill } = await openPlace()
    const dir = newDirectory()
    const first = await openNode(url, { dir })
    await kill(first.id)
    await openNode(url, { dir, node: first.id, hitStore: 'duckdb' })
  })

  test('tells the process that it has lost its row', async () => {
    const { url, kill } = await openPlace()
    const node = await openNode(url)
    await kill(node.id)
    await until('it to be told', () => node.state.replaced.length > 0)
    expect(node.state.replaced[0]).toContain(`Another server runs with the id of this one (node ${node.id})`)
  })

  test('comes back when somebody deleted the row', async () => {
    const { url, db, findRow } = await openPlace()
    const node = await openNode(url)
    await db.write((connection) => connection.deleteFrom('nodes').execute())
    await until('the row to be there again', () => findRow(node.id))
    expect(node.state.replaced).toEqual([])
  })
})

describe('settings', () => {
  test('that differ from those of another node are named in the log', async () => {
    const { url } = await openPlace()
    const settings = { TOWPATH_URL: 'https://go.example', DEFAULT_PLAN: 'pro', OLD_SETTING: 'x' }
    const first = await openNode(url, { settings })
    const gone = await openNode(url, { settings: { TOWPATH_URL: 'https://gone.example' } })
    await gone.close()
    const warned = spyOn(log, 'warn').mockImplementation(() => {})
    await openNode(url, {
      settings: { TOWPATH_URL: 'https://other.example', DEFAULT_PLAN: 'pro', NEW_SETTING: 'y' },
    })
    const calls = warned.mock.calls
    warned.mockRestore()
    expect(calls).toEqual([
      [
        'settings_differ',
        {
          setting: 'TOWPATH_URL',
          here: 'https://other.example',
          there: 'https://go.example',
          otherNode: first.id,
        },
      ],
    ])
  })
})

test('rows of nodes that left long ago are deleted when another one joins', async () => {
  const { url, findRow, change } = await openPlace()
  const [left, silent] = [await openNode(url), await openNode(url)]
  await left.close()
  silent.state.shippedUntil = 0
  await silent.close()
  await change(moveBack('left_at', left.id, 59 * 60_000))
  await change(moveBack('seen_at', silent.id, 29 * DAY_MS))
  await openNode(url)
  expect([await findRow(left.id), await findRow(silent.id)]).not.toContain(undefined)
  await change(moveBack('left_at', left.id, 60_000))
  await change(moveBack('seen_at', silent.id, DAY_MS))
  await openNode(url)
  expect([await findRow(left.id), await findRow(silent.id)]).toEqual([undefined, undefined])
})
