// Exports of workspaces for tests: the file, its records, and the names that its ids stand for.

import { type Archive, openArchive } from '../../../server/features/transfer/archive/open-archive.ts'
import { readLines } from '../../../server/features/transfer/archive/read-lines.ts'
import { WORKSPACE_FILES, type WorkspaceFileName } from '../../../server/features/transfer/export/manifest.ts'
import { until } from '../until.ts'
import type { TestServer, TestWorkspace } from '../world.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of any file
type FileRecords = Record<WorkspaceFileName, any[]>

export async function exportWorkspace(
  { origin }: Pick<TestServer, 'origin'>,
  { key }: Pick<TestWorkspace, 'key'>,
  path: string,
): Promise<void> {
  const response = await until(
    'a place in the limit of requests',
    async () => {
      const answer = await fetch(`${origin}/v1/export`, { headers: { Authorization: `Bearer ${key}` } })
      return answer.status === 429 ? undefined : answer
    },
    120_000,
  )
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  await Bun.write(path, await response.arrayBuffer())
}

export async function readWorkspaceFile(
  path: string,
): Promise<{ manifest: Archive['manifest']; records: FileRecords }> {
  const archive = await openArchive(path)
  try {
    const records = {} as FileRecords
    for (const name of WORKSPACE_FILES) {
      records[name] = []
      for await (const lines of readLines(archive, name))
        records[name].push(...lines.map(({ record }) => record))
    }
    return { manifest: archive.manifest, records }
  } finally {
    await archive.close()
  }
}

/** The records without what differs between two servers: ids, visitors, and the name of the default domain. */
export async function readComparable(path: string): Promise<FileRecords> {
  const { manifest, records } = await readWorkspaceFile(path)
  const names = new Map<string, string>()
  const nameOf = (kind: string, id: unknown) =>
    id === null ? null : (names.get(`${kind} ${id}`) ?? `${kind} ?`)
  const nameAll = (kind: string, ids: string | undefined) =>
    ids?.replace(/\d+/g, (id) => nameOf(kind, Number(id)) ?? '')
  const learn = (kind: string, id: unknown, name: string) => names.set(`${kind} ${id}`, name)
  const host = (domain: string) => (domain === manifest.defaultDomain ? 'default' : domain)
  for (const link of records['links.ndjson']) learn('link', link.id, `${host(link.domain)}/${link.slug}`)
  for (const tag of records['tags.ndjson']) learn('tag', tag.id, tag.name)
  for (const channel of records['channels.ndjson']) learn('channel', channel.id, channel.name)
  for (const [index, { id }] of records['submissions.ndjson'].entries()) learn('submission', id, `#${index}`)
  const visitors = new Map<string, number>()
  // A visitor belongs to one day.
  const visitorOf = (visitor: string | null, at: number) => {
    if (visitor === null) return null
    const key = `${visitor} ${Math.floor(at / 86_400_000)}`
    if (!visitors.has(key)) visitors.set(key, visitors.size)
    return visitors.get(key)
  }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const each = (name: WorkspaceFileName, change: (record: any) => object) =>
    records[name].map((record) => ({ ...record, ...change(record) }))
  return {
    ...records,
    'links.ndjson': each('links.ndjson', ({ domain }) => ({ id: 0, domain: host(domain), shortUrl: '' })),
    'channels.ndjson': each('channels.ndjson', () => ({ id: 0 })),
    'forms.ndjson': each('forms.ndjson', ({ channelIds }) => ({
      channelIds: channelIds.map((id: number) => nameOf('channel', id)),
    })),
    'hits.ndjson': each('hits.ndjson', ({ linkId, visitor, at }) => ({
      id: 0,
      linkId: linkId === 0 ? null : nameOf('link', linkId),
      visitor: visitorOf(visitor, at),
    })),
    'submissions.ndjson': each(
      'submissions.ndjson',
      ({ id, linkId, duplicateOf, visitor, createdAt, touches }) => ({
        id: nameOf('submission', id),
        linkId: nameOf('link', linkId),
        duplicateOf: nameOf('submission', duplicateOf),
        visitor: visitorOf(visitor, Date.parse(createdAt)),
        touches: touches.map((touch: { linkId: number | null }) => ({
          ...touch,
          linkId: nameOf('link', touch.linkId),
        })),
      }),
    ),
    'tags.ndjson': each('tags.ndjson', () => ({ id: 0 })),
    'utm-templates.ndjson': each('utm-templates.ndjson', () => ({ id: 0 })),
    'views.ndjson': each('views.ndjson', ({ filters: { linkId, tagId, domain, ...filters } }) => ({
      id: 0,
      filters: {
        ...filters,
        linkId: nameAll('link', linkId),
        tagId: nameAll('tag', tagId),
        domain: domain && host(domain),
      },
    })),
    'misses.ndjson': each('misses.ndjson', ({ domain }) => ({ domain: host(domain) })),
  }
}
