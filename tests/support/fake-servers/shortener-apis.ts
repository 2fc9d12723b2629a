// The APIs of tools that people leave, with a few links each: they answer in pages, as their documentation says, and refuse
// a request without its key.

export interface ShortenerApis {
  origin: string
  /** The path and query of each request. */
  asked: string[]
  stop(): Promise<void>
}

export const TOOL_KEY = 'key-of-the-tool'
/** How many links each tool has: more than a page of Rebrandly, Kutt and Dub. */
export const TOOL_LINKS = 120

const times = Array.from({ length: TOOL_LINKS }, (_, i) => i)
const at = (i: number) => new Date(Date.UTC(2024, 0, 1) + i * 60_000).toISOString()
const page = <T>(rows: T[], from: number, size: number) => rows.slice(from, from + size)

const dub = times.map((i) => ({
  id: `link_${i}`,
  domain: 'links.acme.example',
  key: `dub-${i}`,
  url: `https://acme.example/${i}`,
  shortLink: `https://links.acme.example/dub-${i}`,
  archived: i === 0,
  tags: [{ id: 'tag_1', name: 'Spring', color: 'red' }],
  title: `Title ${i}`,
  clicks: 3,
  createdAt: at(i),
}))
const shlink = times.slice(0, 3).map((i) => ({
  shortCode: `Shlink-${i}`,
  shortUrl: `https://s.example/Shlink-${i}`,
  longUrl: `https://acme.example/${i}`,
  dateCreated: at(i),
  visitsSummary: { total: 2, nonBots: 1, bots: 1 },
  tags: ['Spring'],
  meta: { validSince: null, validUntil: null, maxVisits: null },
  domain: null,
  title: null,
  crawlable: false,
  forwardQuery: true,
  hasRedirectRules: i === 0,
}))
const visits = (shortCode: string) =>
  [false, true].map((potentialBot, i) => ({
    referer: 'https://news.example/a',
    date: at(1_000 + i),
    userAgent: potentialBot
      ? 'Googlebot/2.1'
      : 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    visitLocation: { countryCode: 'DE', countryName: 'Germany', regionName: 'Berlin', cityName: 'Berlin' },
    potentialBot,
    visitedUrl: `https://s.example/${shortCode}`,
  }))
const kutt = times.map((i) => ({
  id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  address: `kutt-${i}`,
  banned: false,
  created_at: at(i),
  updated_at: at(i),
  password: i === 0,
  description: 'From Kutt',
  expire_in: null,
  target: `https://acme.example/${i}`,
  visit_count: 4,
  domain: null,
  link: `https://kutt.example/kutt-${i}`,
}))
const bitly = times.map((i) => ({
  created_at: '2024-01-01T00:00:00+0000',
  id: `bit.ly/Bitly${i}`,
  link: `https://bit.ly/Bitly${i}`,
  custom_bitlinks: [],
  long_url: `https://acme.example/${i}`,
  title: `Title ${i}`,
  archived: false,
  tags: ['Spring'],
}))
const rebrandly = times.map((i) => ({
  id: `rebrandly${i}`,
  title: `Title ${i}`,
  slashtag: `rb-${i}`,
  destination: `https://acme.example/${i}`,
  shortUrl: `rebrand.ly/rb-${i}`,
  domain: { id: 'd', ref: '/domains/d', fullName: 'rebrand.ly' },
  createdAt: at(i),
  updatedAt: at(i),
  clicks: 5,
  favorite: false,
}))
const short = times.map((i) => ({
  originalURL: `https://acme.example/${i}`,
  path: `short-${i}`,
  idString: `lnk_${i}`,
  id: `lnk_${i}`,
  shortURL: `http://s.example/short-${i}`,
  secureShortURL: `https://s.example/short-${i}`,
  title: `Title ${i}`,
  tags: [],
  createdAt: at(i),
  archived: false,
  hasPassword: false,
  DomainId: 7,
}))

function answer({ pathname, searchParams: query }: URL, origin: string): unknown {
  const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise)
  if (pathname === '/links' && query.has('showArchived'))
    return page(dub, (number('page', 1) - 1) * number('pageSize', 100), number('pageSize', 100))
  if (pathname === '/rest/v3/short-urls')
    return {
      shortUrls: { data: page(shlink, (number('page', 1) - 1) * 2, 2), pagination: { pagesCount: 2 } },
    }
  if (/redirect-rules$/.test(pathname)) {
    const conditions = [{ type: 'device', matchKey: null, matchValue: 'android' }]
    const isFirst = pathname.includes('Shlink-0')
    const rules = isFirst ? [{ longUrl: 'https://acme.example/android', priority: 1, conditions }] : []
    return { defaultLongUrl: 'https://acme.example/', redirectRules: rules }
  }
  const [, shortCode] = /short-urls\/([^/]+)\/visits$/.exec(pathname) ?? []
  if (shortCode) return { visits: { data: visits(shortCode), pagination: { pagesCount: 1 } } }
  if (pathname === '/api/v2/links')
    return { total: TOOL_LINKS, limit: 50, skip: number('skip', 0), data: page(kutt, number('skip', 0), 50) }
  if (pathname === '/v4/groups') return { groups: [{ guid: 'Ba1bc23dE4F', name: 'acme' }] }
  if (/^\/v4\/groups\/[^/]+\/bitlinks$/.test(pathname)) {
    const from = number('search_after', 0)
    const next = from + 100 < TOOL_LINKS ? `${origin}${pathname}?size=100&search_after=${from + 100}` : ''
    return { links: page(bitly, from, 100), pagination: { next, size: 100 } }
  }
  if (pathname === '/v1/links')
    return page(rebrandly, rebrandly.findIndex(({ id }) => id === query.get('last')) + 1, 25)
  if (pathname === '/api/links') {
    const from = number('pageToken', 0)
    return {
      count: TOOL_LINKS,
      links: page(short, from, 100),
      ...(from + 100 < TOOL_LINKS && { nextPageToken: String(from + 100) }),
    }
  }
  return undefined
}

export function startShortenerApis(): ShortenerApis {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const url = new URL(request.url)
      asked.push(url.pathname + url.search)
      const keys = ['authorization', 'x-api-key', 'apikey'].map((name) => request.headers.get(name) ?? '')
      if (!keys.some((key) => key.endsWith(TOOL_KEY))) return new Response('no key', { status: 401 })
      const found = answer(url, url.origin)
      return found === undefined ? new Response('not found', { status: 404 }) : Response.json(found)
    },
  })
  return { origin: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) }
}
