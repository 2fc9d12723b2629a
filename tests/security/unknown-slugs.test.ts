// A flood of slugs that no link has: it takes no memory, no rows without bound and no link out of the cache.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { atScale, quick } from '../support/suite.ts'
import { onSqlite } from '../support/world.ts'

const ROOT = join(import.meta.dir, '../..')
/** The number of the attack that took a server from 103 to 522 MB. */
const SLUGS = 472_000
const REQUESTS = atScale({ full: 1500, soak: 60_000 })
const AT_ONCE = 50

setDefaultTimeout(120_000)

/** Runs code in a process of its own. @returns how many bytes of memory it took, without mapped files */
function measureGrowth(code: string): number {
  const script = `
    const { createLinkCache } = await import('${ROOT}/server/features/links/cache.ts')
    const { readFileSync } = await import('node:fs')
    const readMemory = () => {
      Bun.gc(true)
      return Number(/^RssAnon:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
    }
    const cache = createLinkCache()
    const before = readMemory()
    ${code}
    console.log(readMemory() - before, cache.get('', 'none'))`
  const run = Bun.spawnSync([process.execPath, '-e', script], { cwd: ROOT, stderr: 'pipe' })
  const bytes = Number(run.stdout.toString().split(' ')[0])
  if (!run.success || Number.isNaN(bytes)) throw new Error(run.stderr.toString())
  return bytes
}

test.skipIf(process.platform !== 'linux')('472,000 unknown slugs take less than 48 MB in the cache', () => {
  const growth = measureGrowth(`
    const tail = 'x'.repeat(170)
    for (let n = 0; n < ${SLUGS}; n++) cache.set('', n + tail, null, cache.version())`)
  expect(growth).toBeLessThan(48e6)
})

test.skipIf(process.platform !== 'linux')('a cached slug does not keep its request in memory', () => {
  const growth = measureGrowth(`
    for (let n = 0; n < 20_000; n++) {
      const request = Buffer.from('GET /slug-of-an-attack-' + n + ' HTTP/1.1 ' + 'y'.repeat(8000)).toString('latin1')
      cache.set('', request.slice(5, 30), null, cache.version())
    }`)
  expect(growth).toBeLessThan(48e6)
})

onSqlite('a flood of unknown slugs', (server) => {
  quick('records no hit, and one row for each slug and hour', async () => {
    const link = await (await server().createWorkspace()).createLink()
    const recorded = () => server().app.spool.stats().appended
    const before = recorded()
    for (let n = 0; n < REQUESTS; n += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, i) => {
          // Each slug is asked for twice, in another case.
          const slug = `guess-${Math.floor((n + i) / 2)}-${'x'.repeat(150)}`
          expect((await server().click(i % 2 ? slug : slug.toUpperCase())).status).toBe(404)
        }),
      )
    }
    expect(recorded()).toBe(before)
    await server().app.misses.flush()
    const rows = await server().app.db.read.selectFrom('misses').select(['slug', 'hits']).execute()
    expect(rows.reduce((sum, { hits }) => sum + hits, 0)).toBe(REQUESTS)
    // The flood may begin in one hour and end in the next.
    expect(rows.length).toBeLessThanOrEqual(Math.min(REQUESTS / 2, 10_000) * 2 + 2)
    expect((await server().click(link.slug)).status).toBe(302)
  })

  test('of texts that no link can have reaches neither cache nor rows of their own', async () => {
    await server().app.misses.flush()
    const rows = () => server().app.db.read.selectFrom('misses').select('slug').execute()
    const before = { weight: server().app.redirects.cache.bytes(), rows: (await rows()).length }
    for (const text of [
      'a b',
      'x'.repeat(191),
      'a%00b',
      '%F0%9F%A4%96!',
      'wp-login.php%3Fx',
      'a%2Fb',
      '%E2%80%8B',
    ])
      for (let n = 0; n < 10; n++) expect((await server().click(`${text}${n}`)).status).toBe(404)
    await server().app.misses.flush()
    expect(server().app.redirects.cache.bytes()).toBe(before.weight)
    expect((await rows()).length).toBeLessThanOrEqual(before.rows + 2)
  })
})
