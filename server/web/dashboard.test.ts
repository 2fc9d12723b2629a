// Two releases behind one balancer: a page of one of them may ask a server of the other for its files.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../tests/support/migrated-database.ts'
import { createSnippet } from '../features/tracking/snippet.ts'
import { createBuiltFileStore } from '../storage/built-file-store.ts'
import { type DatabaseHandle, openDatabase } from '../storage/database/open-database.ts'
import { createDashboard } from './dashboard.ts'

const NOW = Date.UTC(2026, 5, 11, 12)
const home = mkdtempSync(join(tmpdir(), 'towpath-releases-'))
let db: DatabaseHandle
beforeAll(async () => {
  db = await openDatabase({ dataDir: home, databaseUrl: (await migratedDatabase()).url })
})
afterAll(async () => {
  await db?.close()
  rmSync(home, { recursive: true, force: true })
})

const openStore = () => createBuiltFileStore({ db, now: () => NOW })

type Answer = (request: Request) => Promise<Response>
const ask = (answer: Answer, path: string, headers: Record<string, string> = {}) =>
  answer(new Request(`https://go.example${path}`, { headers }))

/** A program that has bundled `main-<hash>.js` and `app-<hash>.css`, as dashboard/build.ts does. */
function writeBuild(hash: string): string {
  const directory = join(home, hash)
  mkdirSync(directory)
  for (const name of [`main-${hash}.js`, `app-${hash}.css`]) {
    writeFileSync(join(directory, name), `/* ${name} */`)
    writeFileSync(join(directory, `${name}.gz`), Bun.gzipSync(`/* ${name} */`))
  }
  writeFileSync(join(directory, `inter-${hash}.woff2`), 'wOF2')
  const manifest = {
    script: `main-${hash}.js`,
    boot: `main-${hash}.js`,
    style: `app-${hash}.css`,
    font: `inter-${hash}.woff2`,
    preload: [],
    pages: { links: [`chunk-a-${hash}.js`], 'links/$linkId': [`chunk-b-${hash}.js`] },
    workspaceFrame: '',
    centeredFrame: '',
    languages: ['de', 'fr'],
  }
  writeFileSync(join(directory, 'built.json'), JSON.stringify(manifest))
  // French cannot be bundled: the program writes nothing.
  mkdirSync(join(directory, 'de'))
  writeFileSync(join(directory, `de/main-de${hash}.js`), '/* de */')
  const german = { script: `main-de${hash}.js`, preload: [], workspaceFrame: 'Lädt', centeredFrame: '' }
  writeFileSync(join(directory, 'de/built.json'), JSON.stringify(german))
  const file = join(home, `${hash}.ts`)
  writeFileSync(file, `process.stdout.write(${JSON.stringify(directory)})`)
  return file
}

const openRelease = (hash: string) => createDashboard({ builtFiles: openStore(), build: writeBuild(hash) })

describe('the dashboard of one release', () => {
  let first: Answer
  let second: Answer
  beforeAll(async () => {
    first = openRelease('aaaaaaaa').answer
    second = openRelease('bbbbbbbb').answer
  })

  test.each([
    ['/app', 'a'],
    ['/app/', 'a'],
    ['/app/new?url=x', 'a'],
    ['/app/12/links?search=x#y', 'a'],
    ['/app/12/links/', 'a'],
    ['/app/12/links/7', 'b'],
    ['/app/12/links/7?next=/app/1/links', 'b'],
    ['/app/12/links/7/x', undefined],
    ['/app/12/inbox?next=/app/1/links', undefined],
  ])('names the files of a page early: %s', async (path, chunk) => {
    const page = await (await ask(first, path, { Cookie: 'towpath_session=x' })).text()
    const preloaded = [...page.matchAll(/modulepreload" href="\/app\/assets\/chunk-(\w)/g)].map(
      ([, name]) => name,
    )
    expect(preloaded).toEqual(chunk === undefined ? [] : [chunk])
  })

  test('has its files at the servers of the other one, once it has shown a page', async () => {
    for (const [shows, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const page = await (await ask(shows, '/app')).text()
      for (const [type, pattern] of [
        ['text/javascript', /\/app\/assets\/(main-\w+\.js)/],
        ['text/css', /\/app\/assets\/(app-\w+\.css)/],
      ] as const) {
        const [path = '', name] = pattern.exec(page) ?? []
        const plain = await ask(other, path)
        expect([plain.status, await plain.text()]).toEqual([200, `/* ${name} */`])
        expect(plain.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
        expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        const zipped = await ask(other, path, { 'Accept-Encoding': 'gzip' })
        expect(zipped.headers.get('content-encoding')).toBe('gzip')
        expect(new TextDecoder().decode(Bun.gunzipSync(await zipped.arrayBuffer()))).toBe(`/* ${name} */`)
      }
      const font = await ask(other, /\/app\/assets\/inter-\w+\.woff2/.exec(page)?.[0] ?? '', {
        'Accept-Encoding': 'gzip',
      })
      expect([font.headers.get('content-type'), font.headers.get('content-encoding')]).toEqual([
        'font/woff2',
        null,
      ])
      expect(await font.text()).toBe('wOF2')
    }
  })

  test.each([
    [{}, 'en', 'main-a'],
    [{ 'Accept-Language': 'pt, de-CH;q=0.8, en;q=0.5' }, 'de', 'main-de'],
    [{ 'Accept-Language': 'en-GB, de' }, 'en', 'main-a'],
    [{ 'Accept-Language': 'de;q=0, *' }, 'en', 'main-a'],
    [{ 'Accept-Language': 'de', Cookie: 'a=b; towpath_language=en' }, 'en', 'main-a'],
    [{ Cookie: 'towpath_language=de; a=b' }, 'de', 'main-de'],
    [{ Cookie: 'xtowpath_language=de' }, 'en', 'main-a'],
    [{ Cookie: 'towpath_language=../de' }, 'en', 'main-a'],
    // Where a language cannot be bundled, the page is English.
    [{ 'Accept-Language': 'fr' }, 'en', 'main-a'],
  ])('has its page in the language of %j', async (headers, language, script) => {
    const response = await ask(first, '/app', headers)
    const page = await response.text()
    expect(page).toContain(`<html lang="${language}" data-languages="en de fr">`)
    expect(page).toContain(`/app/assets/${script}`)
    expect(response.headers.get('vary')).toBe('Accept-Language, Cookie')
    const name = /assets\/(main-de\w+\.js)/.exec(page)?.[1]
    if (name) expect(await (await ask(first, `/app/assets/${name}`)).text()).toBe('/* de */')
  })

  test.each([
    '/app/assets/main-cccccccc.js',
    '/app/assets/built.json',
    '/app/assets/..%2f..%2fdata%2fsecret',
    '/app/assets/..%2fmain-aaaaaaaa.js',
    '/app/assets/main-aaaaaaaa.css',
    '/app/assets/t-0123456789abcdef.js',
  ])('has no file %s', async (path) => {
    expect((await ask(second, path)).status).toBe(404)
  })
})

test('a pinned snippet of one release is found at the servers of the other one', async () => {
  const open = (release: string) =>
    createSnippet({
      origin: `https://${release}.example`,
      intakePath: 'e',
      dataDir: mkdtempSync(join(home, release)),
      builtFiles: openStore(),
    })
  const [first, second] = [open('first'), open('second')]
  await first.prepare()
  const latest = await ask(first.latest, '/t.js')
  const path = /(\/e\/t-[0-9a-f]{16}\.js)>/.exec(latest.headers.get('link') ?? '')?.[1] as string
  const pinned = await ask(second.versioned, path)
  expect([pinned.status, await pinned.text()]).toEqual([200, await latest.text()])
  expect(pinned.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(pinned.headers.get('access-control-allow-origin')).toBe('*')
  expect((await ask(second.versioned, '/e/t-0123456789abcdef.js')).status).toBe(404)
  // A row whose content has another hash than its name says is not served.
  const forged = { name: 't-00000000deadbeef.js', gzip: Bun.gzipSync('alert(1)') }
  await openStore().keep('snippet', [forged])
  expect((await ask(second.versioned, `/e/${forged.name}`)).status).toBe(404)
})
