import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { startMailServer } from '../../../tests/support/fake-servers/mail-server.ts'
import { findFreePort } from '../../../tests/support/processes/free-port.ts'
import { createTeam, type Team } from '../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../tests/support/world.ts'
import { parseNetwork } from '../../lib/ip-network.ts'
import type { DnsClient } from '../links/domains/dns-client.ts'
import { createDestinationSync } from './sync-destinations.ts'
import { createDestinationWatch } from './watch-destinations.ts'

setDefaultTimeout(60_000)

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
const ORIGIN = 'https://towpath.example'
const mail = await startMailServer()
const environment = { SMTP_URL: mail.url(), MAIL_FROM: 'go@towpath.example' }

type Answer = (request: Request) => Response
const status = (code: number): Answer => {
  return () => new Response('x', { status: code })
}
const redirect = (location: string): Answer => {
  return () => new Response(null, { status: 302, headers: { Location: location } })
}

/** The sites of the tests: a path of a host, and its answer. Every name leads to this server. */
const pages = new Map<string, Answer>()
const requests: { at: number; line: string }[] = []
let elapsed = 0
const web = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const url = new URL(request.url)
    const host = (request.headers.get('host') ?? '').replace(/:\d+$/, '')
    requests.push({ at: elapsed, line: `${request.method} ${host}${url.pathname}${url.search}` })
    const answer = pages.get(host + url.pathname) ?? pages.get(host)
    return answer?.(request) ?? new Response('not here', { status: 404 })
  },
})
afterAll(async () => {
  await mail.stop()
  await web.stop(true)
})

let hosts = 0
const nextHost = () => `site${++hosts}.example`
const at = (host: string, path = '/') => `http://${host}:${web.port}${path}`
const linesOf = (host: string) =>
  requests.flatMap(({ line }) => (line.includes(host) ? [line.replace(host, '')] : []))

const nameServers = new Map<string, string[]>()
const openDnsClient = () =>
  ({
    listNameServers: async (name: string) => ({ values: nameServers.get(name) ?? ['ns1.honest.example'] }),
    close() {},
  }) as unknown as DnsClient

onBothEngines(
  'destinations of links',
  (server) => {
    let ws: Team
    let now = 0
    let watch: () => Promise<void>

    beforeAll(() => {
      now = server().now()
      const { db, redirects } = server().app
      const { site, sendMail } = redirects
      const shared = { db, site, now: () => now }
      const hostClock = {
        read: () => elapsed,
        async sleep(ms: number) {
          elapsed += ms
        },
      }
      const resolve = async (name: string) => {
        if (name.startsWith('gone')) throw new Error('ENOTFOUND')
        return [{ address: '127.0.0.1', family: 4 }]
      }
      const allow = [parseNetwork('127.0.0.1') ?? { address: '', prefix: 0 }] as never
      const sync = createDestinationSync(shared)
      const mails = { sendMail, onlyVerified: false, origin: ORIGIN }
      watch = createDestinationWatch({ ...shared, ...mails, sync, allow, resolve, hostClock, openDnsClient })
    })
    beforeEach(async () => {
      mail.mails.length = 0
      requests.length = 0
      // Workspaces of earlier tests rest.
      await server().update('workspaces', {}, { watch_destinations: 0 })
      ws = await createTeam(server())
      await setWatch(ws, true)
    })

    const setWatch = ({ id, owner }: Team, watchDestinations: unknown) =>
      owner.in(id).patch('/workspace', { watchDestinations })
    const link = (destinationUrl: string, more = {}, team = ws) =>
      team.createLink({ destinationUrl, ...more })
    async function list(query = '', team = ws) {
      const { status, json } = await team.api(`/destinations${query}`)
      expect([status, json.error]).toEqual([200, undefined])
      return json
    }
    const find = async (url: string, team = ws) =>
      // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
      (await list('', team)).data.find((each: any) => each.url === url)
    /** Runs the job once after a time. A test's run of the day asks each host anew. */
    async function run(afterMs = 0) {
      now += afterMs
      elapsed += Math.max(afterMs, 60_000)
      await watch()
    }
    const repair = (body: unknown, team = ws) => team.post('/destinations/repair', body)
    const readTexts = () => mail.mails.map(({ parsed }) => parsed.text ?? '')

    test('are not watched until an owner wants it', async () => {
      expect((await ws.api('/workspace')).json.data.watchDestinations).toBe(true)
      const host = nextHost()
      await link(at(host))
      await setWatch(ws, false)
      expect(await list()).toEqual({ data: [], nextCursor: null, total: 0 })
      await run()
      expect(linesOf(host)).toEqual([])
      for (const wrong of ['yes', 1]) expect((await setWatch(ws, wrong)).status).toBe(422)
      const { member, id } = ws
      const body = { watchDestinations: true }
      expect((await member.in(id).patch('/workspace', body)).status).toBe(403)
    })

    test('are listed with the links that lead to them, but those of this server and of apps', async () => {
      const [main, expired, country, device, rule, variant] = Array.from({ length: 6 }, () => at(nextHost()))
      await link(main as string, {
        expiredUrl: expired,
        geoTargeting: { DE: country },
        deviceTargeting: { ios: device },
        rules: [{ when: { os: ['linux'] }, to: rule }],
        split: [
          { url: main, weight: 50, label: 'a' },
          { url: variant, weight: 50, label: 'b' },
        ],
      })
      await link(main as string)
      const over = at(nextHost())
      await link(over, { expiresAt: new Date(now - DAY).toISOString(), expiredUrl: expired })
      const hidden = at(nextHost())
      const { id } = await link(hidden, { archived: true })
      const trashed = await link(hidden)
      await ws.delete(`/links/${trashed.id}`)
      const { data, total } = await list()
      const found = Object.fromEntries(
        data.map(({ url, links }: { url: string; links: number }) => [url, links]),
      )
      const each = {
        [country as string]: 1,
        [device as string]: 1,
        [rule as string]: 1,
        [variant as string]: 1,
      }
      expect(found).toEqual({ [main as string]: 2, [expired as string]: 2, ...each })
      expect(total).toBe(6)
      expect(data[0]).toEqual({
        url: main,
        host: new URL(main as string).hostname,
        state: 'unchecked',
        status: null,
        message: null,
        checkedAt: null,
        since: null,
        links: 2,
      })
      await ws.patch(`/links/${id}`, { archived: false })
      expect((await find(hidden)).links).toBe(1)
      const first = await list('?limit=3')
      const second = await list(`?limit=4&cursor=${first.nextCursor}`)
      expect([...first.data, ...second.data]).toEqual((await list()).data)
      expect(second.nextCursor).toBeNull()
    })

    const CASES: [
      name: string,
      pages: Record<string, Answer>,
      state: string,
      status: number | null,
      message?: RegExp,
    ][] = [
      ['a page', { '/': status(200) }, 'ok', 200],
      ['no page', {}, 'failing', 404, /404/],
      ['a page that is gone', { '/': status(410) }, 'failing', 410],
      ['a fault', { '/': status(500) }, 'failing', 500],
      ['a page for some', { '/': status(403) }, 'ok', 403, /403/],
      ['a server that limits', { '/': status(429) }, 'ok', 429],
      [
        'a page without HEAD',
        { '/': ({ method }) => new Response('', { status: method === 'HEAD' ? 405 : 200 }) },
        'ok',
        200,
      ],
      [
        'a page that is missing to HEAD only',
        { '/': ({ method }) => new Response('', { status: method === 'HEAD' ? 404 : 200 }) },
        'ok',
        200,
      ],
      ['endless redirects', { '/': redirect('/') }, 'failing', null, /more than 5/],
      ['redirects', { '/': redirect('/a'), '/a': redirect('/b'), '/b': status(204) }, 'ok', 204],
      ['a redirect to nothing', { '/': redirect('/a') }, 'failing', 404],
      [
        'a redirect to a private address',
        { '/': redirect('http://10.0.0.1/') },
        'not_allowed',
        null,
        /private/,
      ],
      ['a redirect to an app', { '/': redirect('myapp://open') }, 'ok', 302, /not checked/],
      ['a redirect to a file', { '/': redirect('file:///etc/passwd') }, 'ok', 302, /not checked/],
      ['a huge page', { '/': () => new Response(new Uint8Array(8 << 20), { status: 500 }) }, 'failing', 500],
      [
        'robots.txt that forbids',
        { '/': status(200), '/robots.txt': () => new Response('User-agent: *\nDisallow: /') },
        'not_allowed',
        null,
        /robots/,
      ],
      [
        'robots.txt that forbids others',
        { '/': status(200), '/robots.txt': () => new Response('User-agent: Googlebot\nDisallow: /') },
        'ok',
        200,
      ],
      ...(
        [
          ['Shop.Example is for sale | Marketplace', 'ok'],
          ['This domain is for sale', 'parked'],
          ['This premium domain name may be for sale!', 'parked'],
          ['Bikes for sale', 'ok'],
          ['This domain of research is open', 'ok'],
        ] as const
      ).map(([title, state]): [string, Record<string, Answer>, string, number, RegExp] => [
        title,
        {
          '/': () =>
            new Response(`<!doctype html><title>${title}</title>`, {
              headers: { 'Content-Type': 'text/html; charset=utf-8' },
            }),
        },
        state,
        200,
        state === 'ok' ? /^/ : /title/,
      ]),
      [
        'a page with the key of parked domains',
        {
          '/': () => new Response('', { headers: { 'Content-Type': 'text/html', 'X-Adblock-Key': 'MFw' } }),
        },
        'parked',
        200,
        /X-Adblock-Key/,
      ],
      ['robots.txt with a fault', { '/': status(200), '/robots.txt': status(503) }, 'failing', 503, /robots/],
    ]

    test('are told apart by their answers, in one run', async () => {
      const cases = CASES.map((each) => ({ each, host: nextHost() }))
      for (const { each, host } of cases)
        for (const [path, answer] of Object.entries(each[1])) pages.set(host + path, answer)
      for (const { host } of cases) await link(at(host))
      const gone = `gone${nextHost()}`
      const refused = `http://${nextHost()}:${findFreePort()}/`
      const insecure = at(nextHost()).replace('http:', 'https:')
      const [sold, parked] = [nextHost(), nextHost()]
      pages.set(`${sold}/`, redirect(`https://www.hugedomains.com/domain_profile.cfm?d=${sold}`))
      nameServers.set(parked, ['NS1.SedoParking.com.', 'ns2.sedoparking.com'])
      for (const url of [at(gone), refused, insecure, at(sold), at(parked), 'http://10.1.2.3/x'])
        await link(url)
      await run()
      for (const { each, host } of cases) {
        const [name, , state, code, message = /^/] = each
        const found = await find(at(host))
        expect([name, found.state, found.status]).toEqual([name, state, code])
        expect(`${found.message}`).toMatch(message)
        expect(found.checkedAt).toBe(new Date(now).toISOString())
      }
      const expected: [string, string, RegExp][] = [
        [at(gone), 'failing', /no address/],
        [refused, 'failing', /connection/i],
        [insecure, 'failing', /secure connection|connection/i],
        [at(sold), 'parked', /hugedomains/],
        [at(parked), 'parked', /sedoparking/],
        ['http://10.1.2.3/x', 'not_allowed', /private/],
      ]
      for (const [url, state, message] of expected) {
        const found = await find(url)
        expect([url, found.state]).toEqual([url, state])
        expect(found.message).toMatch(message)
      }
      const broken = await list('?state=parked,not_allowed')
      expect(broken.total).toBe(8)
      expect((await ws.api('/destinations?state=bad')).json.errors.state).toStartWith(
        'must be one or more of',
      )
      // A parked domain is not asked at all, and a refused page only for its robots.txt.
      expect(linesOf(parked)).toEqual([])
      expect(linesOf(cases[15]?.host as string)).toEqual(['GET /robots.txt'])
      expect(linesOf(cases[0]?.host as string)).toEqual(['GET /robots.txt', 'HEAD /'])
    })

    test('are asked once a day, for all links and workspaces, a second apart on one host', async () => {
      const host = nextHost()
      pages.set(host, status(200))
      for (const path of ['/a', '/b', '/b#part', '/c']) await link(at(host, path))
      const other = await createTeam(server())
      await setWatch(other, true)
      await link(at(host, '/a'), {}, other)
      await run()
      const all = requests.filter(({ line }) => line.includes(host))
      expect(all.map(({ line }) => line.replace(host, '')).sort()).toEqual([
        'GET /robots.txt',
        'HEAD /a',
        'HEAD /b',
        'HEAD /c',
      ])
      for (const [i, { at }] of all.entries())
        if (i > 0) expect(at - (all[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(1000)
      const [own, theirs] = [await find(at(host, '/a')), await find(at(host, '/a'), other)]
      expect([own.state, theirs.state]).toEqual(['ok', 'ok'])
      // A link of the same day takes the check that is there.
      const third = await createTeam(server())
      await setWatch(third, true)
      await link(at(host, '/c'), {}, third)
      expect((await find(at(host, '/c'), third)).state).toBe('ok')
      await run(HOUR)
      expect(linesOf(host)).toHaveLength(4)
      await run(23 * HOUR)
      expect(linesOf(host)).toHaveLength(8)
    })

    test('are shared fairly: many links of one workspace do not keep another waiting', async () => {
      const [busy, host] = [nextHost(), nextHost()]
      for (const name of [busy, host]) pages.set(name, status(200))
      const links = Array.from({ length: 60 }, (_, i) => ({ destinationUrl: at(busy, `/${i}`) }))
      expect((await ws.post('/links/bulk', links)).status).toBe(201)
      const other = await createTeam(server())
      await setWatch(other, true)
      await link(at(host), {}, other)
      await run()
      expect((await find(at(host), other)).state).toBe('ok')
      // At most a second each: a run has 35 of them.
      expect(linesOf(busy).length).toBeLessThanOrEqual(50)
      await run(60_000)
      expect((await list('?state=unchecked')).total).toBe(0)
    })

    test('that stay broken for a day are mailed once, with all links, and again after they were well', async () => {
      const host = nextHost()
      pages.set(host, status(500))
      const slugs = []
      for (let n = 0; n < 3; n++) slugs.push((await link(at(host))).slug)
      await link(at(host), { archived: true })
      const start = now
      for (let n = 0; n < 3; n++) await run(n === 0 ? 0 : 8 * HOUR)
      // Three failures in 16 hours.
      expect([(await find(at(host))).state, mail.mails.length]).toEqual(['failing', 0])
      await run(8 * HOUR)
      const found = await find(at(host))
      expect([found.state, found.since]).toEqual(['broken', new Date(start).toISOString()])
      expect(mail.mails.map(({ to }) => to)).toEqual([[ws.owner.email]])
      const [text = ''] = readTexts()
      expect(text).toContain(`${at(host)}\n  It answers with status 500.`)
      for (const slug of slugs) expect(text).toContain(`  ${ORIGIN}/${slug}\n`)
      expect(text).toContain('3 links:')
      expect(text).toContain(`${ORIGIN}/app/${ws.id}/links/destinations`)
      for (let n = 0; n < 3; n++) await run(DAY)
      expect(mail.mails).toHaveLength(1)
      pages.set(host, status(200))
      await run(DAY)
      expect((await find(at(host))).state).toBe('ok')
      pages.set(host, status(404))
      await run(DAY)
      for (let n = 0; n < 3; n++) await run(8 * HOUR)
      expect(mail.mails).toHaveLength(2)
    })

    test('whose robots.txt fails for a day are asked all the same, and one that hangs is no end of the run', async () => {
      const host = nextHost()
      pages.set(`${host}/robots.txt`, status(500))
      pages.set(`${host}/`, status(200))
      await link(at(host))
      for (let n = 0; n < 2; n++) await run(n === 0 ? 0 : 8 * HOUR)
      expect(linesOf(host)).toEqual(['GET /robots.txt', 'GET /robots.txt'])
      await run(8 * HOUR)
      expect((await find(at(host))).state).toBe('ok')
      expect(mail.mails).toEqual([])
    })

    test('are repaired in all links at once, by the rules of links, and back', async () => {
      const [from, to, kept] = [at(nextHost(), '/old'), at(nextHost(), '/new'), at(nextHost())]
      const plain = await link(from, { title: 'Plain' })
      const rules = await link(kept, {
        rules: [{ when: { country: ['DE'] }, to: from }],
        geoTargeting: { FR: from, IT: kept },
        deviceTargeting: { android: from },
        expiredUrl: from,
      })
      const split = await link(kept, {
        split: [
          { url: from, weight: 40, label: 'a' },
          { url: kept, weight: 60, label: 'b' },
        ],
      })
      const archived = await link(from, { archived: true })
      const other = await createTeam(server())
      const theirs = await link(from, {}, other)
      await server().click(plain.slug)
      const { status, json } = await repair({ from: `${from}#`.slice(0, -1), to })
      const ids = [plain, rules, split, archived].map(({ id }) => id)
      expect([status, json]).toEqual([200, { data: { ids, left: 0 } }])
      // The cache of redirects knows.
      expect((await server().click(plain.slug)).headers.get('location')).toStartWith(to)
      const read = async ({ id }: { id: number }) => (await ws.api(`/links/${id}`)).json.data
      expect(await read(rules)).toMatchObject({
        destinationUrl: kept,
        expiredUrl: to,
        rules: [{ when: { country: ['DE'] }, to }],
        geoTargeting: { FR: to, IT: kept },
        deviceTargeting: { android: to },
      })
      expect((await read(split)).split.map(({ url }: { url: string }) => url)).toEqual([to, kept])
      expect((await other.api(`/links/${theirs.id}`)).json.data.destinationUrl).toBe(from)
      expect((await find(from)) ?? null).toBeNull()
      const undone = await repair({ from: to, to: from, linkIds: ids })
      expect(undone.json.data).toEqual({ ids, left: 0 })
      expect(await read(plain)).toMatchObject({ destinationUrl: from, title: 'Plain' })
      const audit = await server().rows('audit_events', {
        workspace_id: ws.id,
        action: 'link.destination_repaired',
      })
      expect(audit.map(({ detail }) => JSON.parse(detail).count)).toEqual([4, 4])
      // Only some links; others are left alone.
      const one = await repair({ from, to, linkIds: [plain.id] })
      expect(one.json.data).toEqual({ ids: [plain.id], left: 0 })
      expect((await repair({ from, to, linkIds: [plain.id] })).json.data.ids).toEqual([])
      expect((await repair({ from, to, linkIds: [theirs.id] })).status).toBe(404)
      const viewer: [unknown, string][] = [
        [{ from, to: 'javascript:alert(1)' }, 'to'],
        [{ from, to: `${server().origin}/x` }, 'to'],
        [{ from, to: from }, 'to'],
        [{ from }, 'to'],
        [{ to }, 'from'],
        [{ from, to, linkIds: [] }, 'linkIds'],
        [{ from, to, linkIds: ['1'] }, 'linkIds.0'],
        [{ from, to, all: true }, 'all'],
      ]
      for (const [body, field] of viewer) {
        const refused = await repair(body)
        expect([refused.status, Object.keys(refused.json.errors)]).toEqual([422, [field]])
      }
      expect((await read(archived)).destinationUrl).toBe(from)
    })
  },
  { environment },
)
