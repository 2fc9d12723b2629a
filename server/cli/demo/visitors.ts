// The visitors of the demo: their places, their devices, and the pages that they come from.

import { parseReferrer, type Referrer } from '../../features/visitors/referrer.ts'
import { type ParsedUserAgent, parseUserAgent } from '../../features/visitors/user-agent.ts'
import { createWeightedPicker, type Random } from '../../lib/seeded-random.ts'
import { CONTINENTS } from '../../storage/continents.ts'
import type { Place } from '../../storage/geo.ts'
import type { MarketingChannel } from './company.ts'

const place = (country: string, region: string | null = null, city: string | null = null): Place => ({
  country,
  region,
  city,
  continent: CONTINENTS.get(country) ?? null,
})

/** The customers of a German company: most are from Germany, then from its neighbors and English-speaking countries. */
const pickPlaceByWeight = createWeightedPicker<Place>([
  [900, place('DE', 'BE', 'Berlin')],
  [620, place('DE', 'HH', 'Hamburg')],
  [540, place('DE', 'BY', 'Munich')],
  [430, place('DE', 'NW', 'Cologne')],
  [300, place('DE', 'SN', 'Leipzig')],
  [260, place('DE', 'HE', 'Frankfurt am Main')],
  [520, place('AT', '9', 'Vienna')],
  [140, place('AT', '6', 'Graz')],
  [420, place('CH', 'ZH', 'Zurich')],
  [120, place('CH', 'BS', 'Basel')],
  [480, place('NL', 'NH', 'Amsterdam')],
  [160, place('NL', 'UT', 'Utrecht')],
  [520, place('GB', 'ENG', 'London')],
  [180, place('GB', 'SCT', 'Edinburgh')],
  [110, place('GB', 'ENG', 'Bristol')],
  [330, place('FR', 'IDF', 'Paris')],
  [90, place('FR', 'ARA', 'Lyon')],
  [330, place('US', 'NY', 'New York')],
  [240, place('US', 'CA', 'San Francisco')],
  [150, place('US', 'OR', 'Portland')],
  [230, place('DK', '84', 'Copenhagen')],
  [210, place('SE', 'AB', 'Stockholm')],
  [180, place('PL', '14', 'Warsaw')],
  [170, place('BE', 'BRU', 'Brussels')],
  [160, place('ES', 'CT', 'Barcelona')],
  [150, place('IT', '25', 'Milan')],
  [140, place('CZ', '10', 'Prague')],
  [110, place('IE', 'L', 'Dublin')],
  [100, place('CA', 'ON', 'Toronto')],
  [90, place('NO', '03', 'Oslo')],
  [80, place('FI', '18', 'Helsinki')],
  [80, place('PT', '11', 'Lisbon')],
  [70, place('AU', 'VIC', 'Melbourne')],
  [60, place('JP', '13', 'Tokyo')],
  [50, place('BR', 'SP', 'São Paulo')],
  [40, place('CO', 'DC', 'Bogotá')],
  [40, place('IN', 'KA', 'Bengaluru')],
  [30, place('KR', '11', 'Seoul')],
  [25, place('TR', '34', 'Istanbul')],
  [20, place('ZA', 'WC', 'Cape Town')],
  [15, place('MX', 'CMX', 'Mexico City')],
  [10, place('SG')],
  [10, place('NZ', 'AUK', 'Auckland')],
])

const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const PIXEL = `Mozilla/5.0 (Linux; Android 15; Pixel 9) ${KHTML}`
const WINDOWS = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML}`
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'

const phones: [number, string][] = [
  [36, `${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1`],
  [27, `${PIXEL} Chrome/138.0.0.0 Mobile Safari/537.36`],
  [
    7,
    `Mozilla/5.0 (Linux; Android 15; SM-S938B) ${KHTML} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ],
  [4, 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0'],
  [3, `${IPHONE} CriOS/138.0.7204.119 Mobile/15E148 Safari/604.1`],
]
const desktops: [number, string][] = [
  [34, `${WINDOWS} Chrome/138.0.0.0 Safari/537.36`],
  [22, `${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`],
  [17, `${MAC} ${KHTML} Chrome/138.0.0.0 Safari/537.36`],
  [12, `${WINDOWS} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0`],
  [9, 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  [4, 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  [2, `${WINDOWS} Chrome/137.0.0.0 Safari/537.36 OPR/122.0.0.0`],
]
const tablets: [number, string][] = [
  [
    1,
    'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  ],
]
const bots: [number, string][] = [
  [5, 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  [3, 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)'],
  [5, 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'],
  [3, 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'],
  [2, 'LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)'],
  [2, 'curl/8.14.1'],
]

/** The browser inside the app of a social network, where most of its clicks happen. */
const inApp = (name: string): [number, string][] => [
  [6, `${IPHONE} Mobile/22F76 ${name}`],
  [4, `${PIXEL} Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 ${name}`],
]

const scaleWeights = (list: [number, string][], share: number) => {
  const total = list.reduce((sum, [weight]) => sum + weight, 0)
  return list.map(([weight, text]) => [(weight / total) * share, parseUserAgent(text)] as const)
}

/** @param shares in percent: phones, desktops, tablets. The rest is inside the app. */
const pickFromDevices = ([phone, desktop, tablet]: [number, number, number], app?: string) =>
  createWeightedPicker<ParsedUserAgent>([
    ...scaleWeights(phones, phone),
    ...scaleWeights(desktops, desktop),
    ...scaleWeights(tablets, tablet),
    ...(app ? scaleWeights(inApp(app), 100 - phone - desktop - tablet) : []),
  ])

const AVERAGE: [number, number, number] = [52, 43, 5]
const agents: Record<MarketingChannel, (random: Random) => ParsedUserAgent> = {
  newsletter: pickFromDevices([50, 45, 5]),
  instagram: pickFromDevices([22, 6, 2], 'Instagram 389.0.0.25.74'),
  facebook: pickFromDevices([25, 20, 5], '[FBAN/FBIOS;FBAV/515.0.0.31.90]'),
  linkedin: pickFromDevices([18, 60, 2], '[LinkedInApp]/9.31'),
  tiktok: pickFromDevices([15, 4, 1], 'musical_ly_40.1.0 BytedanceWebview'),
  youtube: pickFromDevices([56, 36, 8]),
  'search ad': pickFromDevices(AVERAGE),
  'social ad': pickFromDevices([20, 8, 2], 'Instagram 389.0.0.25.74'),
  podcast: pickFromDevices([70, 26, 4]),
  poster: pickFromDevices([96, 1, 3]),
  partner: pickFromDevices(AVERAGE),
  support: pickFromDevices([44, 52, 4]),
}
const pickBot = createWeightedPicker(scaleWeights(bots, 1))

const pickFromReferrers = (...list: [number, string][]) =>
  createWeightedPicker<Referrer>(
    list.map(([weight, url]) => [weight, parseReferrer(url, new Set())] as const),
  )

const mail: [number, string][] = [
  [70, ''],
  [16, 'https://mail.google.com/'],
  [8, 'https://outlook.live.com/'],
  [6, 'android-app://com.google.android.gm/'],
]
const origins: Record<MarketingChannel, (random: Random) => Referrer> = {
  newsletter: pickFromReferrers(...mail),
  instagram: pickFromReferrers(
    [75, 'https://l.instagram.com/'],
    [10, 'https://www.instagram.com/'],
    [15, ''],
  ),
  facebook: pickFromReferrers([50, 'https://l.facebook.com/'], [35, 'https://m.facebook.com/'], [15, '']),
  linkedin: pickFromReferrers(
    [70, 'https://www.linkedin.com/'],
    [15, 'android-app://com.linkedin.android/'],
    [15, ''],
  ),
  tiktok: pickFromReferrers([60, 'https://www.tiktok.com/'], [40, '']),
  youtube: pickFromReferrers([80, 'https://www.youtube.com/'], [20, '']),
  'search ad': pickFromReferrers([92, 'https://www.google.com/'], [4, 'https://www.google.de/'], [4, '']),
  'social ad': pickFromReferrers([60, 'https://l.instagram.com/'], [30, 'https://l.facebook.com/'], [10, '']),
  podcast: pickFromReferrers(
    [70, ''],
    [20, 'https://open.spotify.com/'],
    [10, 'https://podcasts.apple.com/'],
  ),
  poster: pickFromReferrers([100, '']),
  partner: pickFromReferrers(
    [30, 'https://www.cafe-oriel.example/coffee'],
    [22, 'https://bikeclub.example.org/members/offers'],
    [16, 'https://kettle-co.example/sets'],
    [12, 'https://www.reddit.com/'],
    [20, ''],
  ),
  support: pickFromReferrers([60, ''], [25, 'https://www.google.com/'], [15, 'https://help.example.com/']),
}

/** The referrers of visitors who come to the company's site without a link. */
const organic = pickFromReferrers(
  [44, 'https://www.google.com/'],
  [36, ''],
  [8, 'https://www.bing.com/'],
  [6, 'https://duckduckgo.com/'],
  [6, 'https://www.reddit.com/'],
)

export const pickPlace = pickPlaceByWeight
export const pickAgent = (channel: MarketingChannel, random: Random) => agents[channel](random)
export const pickReferrer = (channel: MarketingChannel, random: Random) => origins[channel](random)
export const pickOrganicReferrer = organic
export const pickBotAgent = pickBot
