// Measures the lists of links, tags and missing slugs with each filter, in processor time of the server:
// bun bench/link-lists.ts [--links=100000] [--rounds=7].

import { median, print, readOptions, readProcessorMs, toTable } from './harness.ts'
import { callApi, seed, startTowpath } from './servers.ts'

const { links, rounds } = readOptions({ links: 100_000, rounds: 7 })
const AT = Date.now()

const { key } = await seed({ links }, async (db, { workspaceId }) => {
  const tag = { workspace_id: workspaceId, name: 'all', name_key: 'all', color: 'gray', created_at: AT }
  await db.write(async (connection) => {
    const { id } = await connection.insertInto('tags').values(tag).returning('id').executeTakeFirstOrThrow()
    await connection
      .insertInto('link_tags')
      .columns(['link_id', 'tag_id', 'workspace_id'])
      .expression((e) =>
        e.selectFrom('links').select(['id', e.val(id).as('tag_id'), e.val(workspaceId).as('workspace_id')]),
      )
      .execute()
  })
})
const server = await startTowpath({}, { first: true })

const LISTS = [
  '/links',
  '/links?archived=all',
  '/links?archived=true',
  '/links?sort=clicks',
  '/links?sort=lastClickedAt',
  '/links?sort=slug',
  '/links?externalId=none',
  '/links?domain=127.0.0.1',
  '/links?tagId=1',
  '/links?tagId=1&sort=clicks',
  '/links?search=bench',
  '/links?search=nothing',
  '/links?tagId=1&search=bench',
  '/links/trash',
  '/tags',
  '/tags?search=all',
  '/analytics/missing',
]

async function measure(path: string): Promise<number> {
  const before = readProcessorMs(server.pid)
  await callApi(server, key, path)
  return readProcessorMs(server.pid) - before
}

try {
  const rows: (string | number)[][] = []
  let plain = 0
  for (const path of LISTS) {
    const times: number[] = []
    try {
      await measure(path)
      for (let round = 0; round < rounds; round++) times.push(await measure(path))
    } catch (error) {
      rows.push([`\`${path}\``, String(error).slice(0, 80), ''])
      continue
    }
    const time = median(times)
    plain ||= time
    rows.push([`\`${path}\``, time, (time / plain).toFixed(1)])
  }
  print(toTable(['list', 'processor ms', 'times the plain list'], rows))
} finally {
  await server.end()
}
process.exit(0)
