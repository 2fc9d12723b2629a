import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onSqlite } from '../../../tests/support/world.ts'
import { createGeoLookup } from '../../storage/geo.ts'
import { createClickIds } from '../hits/click-id.ts'
import { readRecordedHits } from './redirect.fixture.ts'

const at = (place: string) => `https://example.com/${place}`

/** Addresses that the bundled country database finds in these countries today. */
function addressesIn(...countries: string[]): string[] {
  const geo = createGeoLookup()
  return countries.map((country) => {
    for (let network = 1; network < 224; network++) {
      for (const host of [1, 65, 129, 193]) {
        const address = `${network}.${host}.0.1`
        if (geo.findPlace(address).country === country) return address
      }
    }
    throw new Error(`no address of ${country} found`)
  })
}

const [GERMAN = '', BRAZILIAN = '', AMERICAN = ''] = addressesIn('DE', 'BR', 'US')

const AGENTS = {
  iPhone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  iPad: 'Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1',
  Android:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
  Windows:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  Mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
}

const TARGETS = { ios: at('ios'), android: at('android'), desktop: at('desktop') }

onSqlite(
  'A link with targets',
  (server) => {
    const landing = async (slug: string, headers: Record<string, string>) =>
      (await server().click(slug, headers)).headers.get('location')

    test.each([
      ['iPhone', 'ios'],
      ['iPad', 'ios'],
      ['Android', 'android'],
      ['Windows', 'desktop'],
      ['Mac', 'desktop'],
    ] as const)('sends %s to its target for %s', async (agent, device) => {
      const ws = await server().createWorkspace()
      const all = await ws.createLink({ deviceTargeting: TARGETS })
      const others = await ws.createLink({ deviceTargeting: { ...TARGETS, [device]: null } })
      expect(await landing(all.slug, { 'User-Agent': AGENTS[agent] })).toBe(TARGETS[device])
      expect(await landing(others.slug, { 'User-Agent': AGENTS[agent] })).toBe('https://example.com/')
    })

    test('redirects to the target of the visitor’s country, or else to the destination', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({ geoTargeting: { DE: at('de'), br: at('br') } })
      const from = (address: string) => landing(slug, { 'X-Forwarded-For': address })
      expect(await from(GERMAN)).toBe(at('de'))
      expect(await from(BRAZILIAN)).toBe(at('br'))
      expect(await from(AMERICAN)).toBe(at(''))
      expect(await from('10.0.0.1')).toBe(at(''))
      expect(await from(`::ffff:${GERMAN}`)).toBe(at('de'))
    })

    test('uses the hop that the trusted proxy saw, and not the hops left of it', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({ geoTargeting: { DE: at('de'), BR: at('br') } })
      const from = (chain: string) => landing(slug, { 'X-Forwarded-For': chain })
      expect(await from(`${GERMAN}, ${BRAZILIAN}`)).toBe(at('br'))
      expect(await from(`${GERMAN}, ${BRAZILIAN}, 127.0.0.1`)).toBe(at('br'))
      for (const odd of [
        '',
        ',',
        'unknown',
        `${GERMAN}, nonsense`,
        'fe80::1%eth0',
        '999.1.1.1',
        '<script>',
      ]) {
        expect([odd, await from(odd)]).toEqual([odd, at('')])
      }
    })

    test('records the country that chose the target', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({ geoTargeting: { BR: at('br') } })
      await landing(slug, { 'X-Forwarded-For': BRAZILIAN })
      const own = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
      expect(own).toMatchObject([{ country: 'BR', continent: 'SA' }])
    })

    test('adds a signed click id with trackConversions', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({
        trackConversions: true,
        forwardQuery: true,
        destinationUrl: at('?a=1&tp_cid=copied#top'),
      })
      const ids = createClickIds(
        readFileSync(join(server().dataDir, 'secret'), 'utf8').trim(),
        server().app.spool.node,
      )
      const read = (location: string | null) => {
        expect(location).toMatch(/^https:\/\/example\.com\/\?a=1&b=2&tp_cid=[\w.-]+#top$/)
        const text = new URL(location ?? '').searchParams.getAll('tp_cid')
        expect(text).toHaveLength(1)
        expect(ids.verify(`${text[0]}x`, ws.id)).toBeUndefined()
        return ids.verify(text[0] ?? '', ws.id)
      }
      const first = read(await landing(`${slug}?b=2&tp_cid=forged`, {}))
      const second = read(await landing(`${slug}?tp_cid=1.a.b&b=2`, {}))
      const own = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
      expect(own.map((hit) => hit.id)).toEqual([first?.id ?? 0, second?.id ?? 0])
      expect([first?.node, first?.linkId]).toEqual([server().app.spool.node, id])
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)

onSqlite('Without a trusted proxy', (server) => {
  test('a visitor cannot choose a country with X-Forwarded-For', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ geoTargeting: { DE: at('de') } })
    const answer = await server().click(slug, { 'X-Forwarded-For': GERMAN })
    expect(answer.headers.get('location')).toBe(at(''))
  })
})
