import { expect, test } from 'bun:test'
import {
  listRows,
  runImport,
  uploadImport,
  waitForImport,
} from '../../../../tests/support/imports/import-client.ts'
import { addVerifiedDomain } from '../../../../tests/support/server/verified-domain.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { onBothEngines, onSqlite, type TestWorkspace } from '../../../../tests/support/world.ts'

const csv = (...lines: string[]) => `${lines.join('\r\n')}\r\n`
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML; like Gecko) Chrome/131.0.0.0 Safari/537.36'
const HEADER = 'Short URL,Destination URL,Title,Tags,Created'

const listLinks = async (ws: TestWorkspace) =>
  (await ws.api('/links?archived=all&sort=slug&order=asc&limit=100')).json.data

const figures = ({ rows, created, renamed, skipped, failed }: Record<string, unknown>) => ({
  rows,
  created,
  renamed,
  skipped,
  failed,
})

onBothEngines('an import', (server) => {
  test('creates links with their slugs, titles, tags and times', async () => {
    const ws = await server().createWorkspace()
    const name = `go-${ws.id}.example`
    await addVerifiedDomain(server(), ws.id, name)
    const done = await runImport(ws, {
      source: 'csv',
      file: csv(
        HEADER,
        `https://${name}/spring,https://example.com/spring,Spring sale,"news, Paid",2021-03-04T05:06:07Z`,
        `https://bit.ly/Autumn-${ws.id},https://example.com/autumn,,news,2022-01-02`,
      ),
    })
    expect(done).toMatchObject({
      status: 'done',
      dryRun: false,
      rows: 2,
      created: 2,
      renamed: 0,
      skipped: 0,
      failed: 0,
      errors: [],
      problem: null,
      progress: 1,
    })
    const [autumn, spring] = await listLinks(ws)
    expect(spring).toMatchObject({
      slug: 'spring',
      domain: name,
      destinationUrl: 'https://example.com/spring',
      title: 'Spring sale',
      createdAt: '2021-03-04T05:06:07.000Z',
      tags: [{ name: 'news' }, { name: 'Paid' }],
    })
    expect(autumn).toMatchObject({ slug: `Autumn-${ws.id}`, createdAt: '2022-01-02T00:00:00.000Z' })
    expect(await listRows(ws, done.id)).toEqual([
      `2 link created ${name}/spring`,
      '2 tag created news',
      '2 tag created Paid',
      `3 link created ${autumn.domain}/Autumn-${ws.id}`,
    ])
    expect((await server().click(`Autumn-${ws.id}`)).headers.get('location')).toBe(
      'https://example.com/autumn',
    )
  })

  test.each([false, true])(
    'has figures that agree, with aliases, tags and totals (dry run: %p)',
    async (dryRun) => {
      const ws = await server().createWorkspace()
      const done = await runImport(ws, {
        source: 'bitly',
        dryRun,
        file: csv(
          'bitlink,long_url,custom_bitlinks,tags,clicks',
          `bit.ly/a${ws.id},https://example.com/a,"bit.ly/b${ws.id}, bit.ly/c${ws.id}",news,3400`,
          `bit.ly/a${ws.id},https://example.com/a,,news,1`,
          `bit.ly/d${ws.id},ftp://example.com/d,,,2`,
        ),
      })
      expect(done.created + done.skipped + done.failed).toBe(done.rows)
      expect(done.created).toBe(3)
      const count = async (query: string) =>
        (await ws.api(`/imports/${done.id}/rows?limit=1${query}`)).json.total
      expect(await count('&outcome=created&kind=link')).toBe(done.created - done.renamed)
      expect(await count('&outcome=created&kind=tag')).toBe(1)
      expect(done.notices.filter((text: string) => text.includes('3,400 clicks'))).toHaveLength(
        dryRun ? 0 : 1,
      )
    },
  )

  test('that is repeated changes nothing', async () => {
    const ws = await server().createWorkspace()
    const body = {
      source: 'csv',
      file: csv(
        HEADER,
        `https://bit.ly/r-${ws.id},https://example.com/1,,,`,
        ',https://example.com/2,,,',
        ',https://example.com/2,,,',
      ),
    }
    const first = await runImport(ws, body)
    expect([first.created, first.skipped]).toEqual([3, 0])
    const before = await listLinks(ws)
    const second = await runImport(ws, { ...body, onConflict: 'rename' })
    expect([second.created, second.skipped, second.failed]).toEqual([0, 3, 0])
    expect(await listLinks(ws)).toEqual(before)
    expect(await listRows(ws, second.id)).toHaveLength(3)
  })

  test('names row, field, value and reason of each error, as CSV too', async () => {
    const ws = await server().createWorkspace()
    const { origin } = server()
    const done = await runImport(ws, {
      source: 'csv',
      file: csv(
        'slug,url,expires',
        `bad slug!,https://example.com/,`,
        `js-${ws.id},javascript:alert(1),`,
        `loop-${ws.id},${origin}/other,`,
        `ok-${ws.id},https://example.com/ok,2027-01-01`,
        `=cmd-${ws.id},ftp://example.com/,`,
      ),
    })
    expect(figures(done)).toEqual({ rows: 5, created: 1, renamed: 0, skipped: 0, failed: 4 })
    expect(done.errors.map(({ row, field }) => [row, field])).toEqual([
      [2, 'slug'],
      [3, 'destinationUrl'],
      [4, 'destinationUrl'],
      [6, 'slug'],
    ])
    const { text, headers } = await ws.api(`/imports/${done.id}/errors`)
    expect(headers.get('content-type')).toStartWith('text/csv')
    const lines = text.trim().split('\r\n')
    expect(lines[0]).toBe('row,field,value,message')
    expect(lines[4]).toStartWith(`6,slug,'=cmd-${ws.id},`)
  })

  test('brings the domain that a host is mapped to, and clicks from before', async () => {
    const ws = await server().createWorkspace()
    const name = `mapped-${ws.id}.example`
    await addVerifiedDomain(server(), ws.id, name, { case_sensitive: 1 })
    const done = await runImport(ws, {
      source: 'csv',
      domainMap: { 'Bit.ly': name },
      file: csv(
        'short url,url,clicks',
        'https://bit.ly/a,https://example.com/1,12',
        'https://bit.ly/A,https://example.com/2,3',
      ),
    })
    expect(figures(done)).toEqual({ rows: 2, created: 2, renamed: 0, skipped: 0, failed: 0 })
    expect(
      (await listLinks(ws)).map((link: Record<string, unknown>) => [link.domain, link.slug, link.clicks]),
    ).toEqual([
      [name, 'A', 3],
      [name, 'a', 12],
    ])
  })
})

onBothEngines.quick('an import whose rows the database compares', (server) => {
  quick('skips, renames or refuses slugs that are taken, in the file too', async () => {
    const ws = await server().createWorkspace()
    const slug = `taken-${ws.id}`
    await ws.createLink({ slug, destinationUrl: 'https://example.com/first' })
    const file = csv(
      'slug,url',
      `${slug},https://example.com/second`,
      `app,https://example.com/reserved`,
      `${slug}-new,https://example.com/third`,
      `${slug}-NEW,https://example.com/fourth`,
    )
    const refused = await runImport(ws, { source: 'csv', file, onConflict: 'fail' })
    expect([refused.status, refused.created]).toEqual(['failed', 0])
    expect(refused.problem).toBe(
      `Row 2: ${new URL(server().origin).host}/${slug} cannot be created. A link to https://example.com/first has this slug. Nothing is imported, because onConflict is fail.`,
    )
    expect(await listLinks(ws)).toHaveLength(1)

    const dry = await runImport(ws, { source: 'csv', file, onConflict: 'rename', dryRun: true })
    expect(await listLinks(ws)).toHaveLength(1)
    const renamed = await runImport(ws, { from: dry.id })
    expect(figures(renamed)).toEqual({ rows: 4, created: 4, renamed: 3, skipped: 0, failed: 0 })
    expect(figures(dry)).toEqual(figures(renamed))
    expect((await listLinks(ws)).map((link: { slug: string }) => link.slug).sort()).toEqual(
      [`${slug}`, `app-2`, `${slug}-2`, `${slug}-new`, `${slug}-NEW-2`].sort(),
    )
    expect(renamed.notices[0]).toStartWith('One slug differs from another one only in the case of letters.')

    const tagged = Array.from({ length: 60 }, (_, n) => `${slug}-tagged-${n},https://example.com/,sale`)
    const many = csv('slug,destinationUrl,tags', ...tagged)
    const { id } = await runImport(ws, { source: 'csv', file: many, dryRun: true })
    expect((await listRows(ws, id)).filter((row) => row.includes('tag created'))).toEqual([
      '2 tag created sale',
    ])
  })

  quick('is undone: what was changed since stays, and is listed', async () => {
    const ws = await server().createWorkspace()
    const body = {
      source: 'csv',
      file: csv(
        'slug,url,tags',
        `u1-${ws.id},https://example.com/1,one`,
        `u2-${ws.id},https://example.com/2,two`,
      ),
    }
    const done = await runImport(ws, body)
    const [first] = await listLinks(ws)
    await ws.patch(`/links/${first.id}`, { title: 'Mine now' })
    const { status } = await ws.delete(`/imports/${done.id}`)
    expect(status).toBe(200)
    const undone = await waitForImport(ws, done.id)
    expect(undone).toMatchObject({ status: 'undone', undoableUntil: null })
    expect(undone.kept.map(({ kind, name, reason }) => [kind, name?.split('/').at(-1), reason])).toEqual([
      ['link', `u1-${ws.id}`, 'It was changed after the import.'],
      ['tag', 'one', 'Links have it, or it was changed after the import.'],
    ])
    expect((await listLinks(ws)).map(({ slug }: { slug: string }) => slug)).toEqual([`u1-${ws.id}`])
    expect((await ws.api('/tags')).json.data.map(({ name }: { name: string }) => name)).toEqual(['one'])
    const again = await ws.delete(`/imports/${done.id}`)
    expect([again.status, again.json.error]).toEqual([409, 'The import is undone already'])
    // Its keys are free again.
    expect((await runImport(ws, body)).created).toBe(1)
  })
})

onBothEngines('an import with a click history', (server) => {
  test('is done once the counters of its links have all its clicks', async () => {
    for (let round = 0; round < 3; round++) {
      const ws = await server().createWorkspace()
      const slug = `told-${ws.id}`
      const file = csv(
        'keyword,url,title,timestamp,ip,clicks',
        `${slug},https://example.com/,,2025-01-01 00:00:00,,40`,
      )
      const line = `2025-02-01 00:00:00,${slug},direct,${CHROME},192.0.2.1,DE`
      const clicks = csv(
        'click_time,shorturl,referrer,user_agent,ip_address,country_code',
        ...Array(40).fill(line),
      )
      const done = await runImport(ws, { source: 'yourls', file, clicks })
      expect(done).toMatchObject({ status: 'done', created: 1, clicks: 40 })
      const [link] = await listLinks(ws)
      expect([link.clicks, link.clicksBefore]).toEqual([40, 0])
    }
  })
})

onSqlite('the route of imports', (server) => {
  test('takes a form as it comes, and refuses what is wrong with it', async () => {
    const ws = await server().createWorkspace()
    const file = new Blob([csv('slug,url', `form-${ws.id},https://example.com/`)])
    const sent = await uploadImport(server(), ws, [
      ['source', 'csv'],
      ['dryRun', 'false'],
      ['domainMap', '{}'],
      ['file', file],
    ])
    expect([sent.status, sent.json?.data?.fileName]).toEqual([202, 'links.csv'])
    expect((await waitForImport(ws, sent.json.data.id)).created).toBe(1)

    const refuse = async (...fields: [string, string | Blob][]) => {
      const { status, json } = await uploadImport(server(), ws, fields)
      return [status, json.errors]
    }
    expect(await refuse(['file', file])).toEqual([422, { source: 'is required' }])
    expect(await refuse(['source', 'csv'])).toEqual([422, { file: 'is required' }])
    expect(await refuse(['source', 'csv'], ['file', new Blob([''])])).toEqual([422, { file: 'is empty' }])
    expect(await refuse(['source', 'csv'], ['file', file], ['x', '1'])).toEqual([
      422,
      { x: 'is not a known field' },
    ])
    expect(await refuse(['source', 'csv'], ['file', file], ['dryRun', 'yes'])).toEqual([
      422,
      { dryRun: 'must be true or false' },
    ])
    expect(await refuse(['source', 'csv'], ['file', file], ['file', file])).toEqual([
      422,
      { file: 'must be given once' },
    ])
  })
})
