// Generates raw hits as a busy server gets them, the same each time: a few links get most clicks, people come back, most
// referrers are origins, and ads add a click id of their own to every URL.

import type { RawHit } from '../server/features/hits/spool/raw-hit.ts'
import type { Spool } from '../server/features/hits/spool/spool.ts'
import { createRandom, pick, type Random } from '../server/lib/seeded-random.ts'
import { GENERATED_LINKS, GENERATED_WORKSPACES } from '../tests/support/hits/generate-hits.ts'

/** The time of the first hit. */
export const FIRST_HIT_AT = Date.parse('2026-06-10T12:00:00Z')

const [ADDRESSES, PEOPLE, USER_AGENTS, HOSTS, ARTICLES, CAMPAIGNS] = [50_000, 150_000, 3000, 400, 5000, 500]

/** @returns 0 to n-1, the k-th about 1/k as often as the first (Zipf's law) */
const pickByZipf = (random: Random, n: number) => Math.floor((n + 1) ** random()) - 1

function createRawHits(random: Random): () => RawHit {
  const below = (n: number) => Math.floor(random() * n)
  const userAgents = Array.from({ length: USER_AGENTS }, () => createUserAgent(below))
  const addresses = Array.from({ length: ADDRESSES }, () => createAddress(random() < 0.35, below))
  const people = Array.from({ length: PEOPLE }, () => ({
    address: pick(addresses, random),
    userAgent: userAgents[pickByZipf(random, USER_AGENTS)] as string,
  }))
  let at = FIRST_HIT_AT
  return () => {
    const link = pickByZipf(random, GENERATED_LINKS)
    const person = random() < 0.5 ? people[pickByZipf(random, PEOPLE)] : pick(people, random)
    const tagged = random()
    const clickId = Array.from({ length: 6 }, () => below(2 ** 30).toString(36)).join('')
    return {
      at: at++,
      workspaceId: 1 + (link % GENERATED_WORKSPACES),
      linkId: 1 + link,
      variant: '',
      outcome: 'redirect',
      head: false,
      prefetch: false,
      internal: false,
      ignored: false,
      trigger: tagged < 0.05 ? 'qr' : 'link',
      ...(person as (typeof people)[number]),
      referrer: createReferrer(random),
      query: tagged < 0.05 ? 'qr=1' : tagged < 0.2 ? `${createUtm(random)}&fbclid=${clickId}` : '',
      destinationQuery: tagged > 0.85 ? createUtm(random) : '',
    }
  }
}

/** Records hits, each a millisecond after the one before. */
export async function recordRawHits(spool: Spool, hits: number) {
  const next = createRawHits(createRandom(1))
  for (let i = 0; i < hits; i++) {
    spool.append(next())
    // The spool creates segments in the background. Without the wait, a burst would exceed what it keeps in memory.
    if (i % 256 === 0) while (spool.stats().waiting > 0) await Bun.sleep(1)
  }
  while (spool.stats().waiting > 0) await Bun.sleep(1)
  if (spool.stats().dropped > 0) throw new Error(`The spool dropped ${spool.stats().dropped} hits`)
}

function createUserAgent(below: (n: number) => number): string {
  const chrome = `Chrome/${110 + below(30)}.0.${below(7000)}.${below(200)}`
  const ios = `${15 + below(4)}_${below(8)}`
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  const kinds = [
    `(Windows NT 10.0; Win64; x64) ${webkit} ${chrome} Safari/537.36`,
    `(Linux; Android 1${below(6)}; SM-S9${below(90)}B) ${webkit} ${chrome} Mobile Safari/537.36`,
    `(iPhone; CPU iPhone OS ${ios} like Mac OS X) ${webkit} Version/${ios} Mobile/15E${below(999)} Safari/604.1`,
    `(iPhone; CPU iPhone OS ${ios} like Mac OS X) ${webkit} Mobile/15E148 Instagram 3${below(99)}.0.0.28.${below(99)}`,
    `(compatible; Googlebot/2.${below(20)}; +http://www.google.com/bot.html)`,
  ]
  return `Mozilla/5.0 ${kinds[below(kinds.length)]}`
}

const createAddress = (isIpv6: boolean, below: (n: number) => number) =>
  isIpv6
    ? `2a0${below(16).toString(16)}:${Array.from({ length: 7 }, () => (1 + below(65_535)).toString(16)).join(':')}`
    : `${1 + below(223)}.${below(256)}.${below(256)}.${below(256)}`

/** Browsers send only the origin to other sites, unless a site asks for more. */
function createReferrer(random: Random): string {
  const kind = random()
  if (kind < 0.4) return ''
  const host = pickByZipf(random, HOSTS)
  if (kind < 0.85) return `https://www.host${host}.example/`
  return `https://host${host}.example/posts/article-${pickByZipf(random, ARTICLES)}?page=${Math.floor(random() * 9)}`
}

function createUtm(random: Random): string {
  const campaign = pickByZipf(random, CAMPAIGNS)
  return `utm_source=source${campaign % 20}&utm_medium=social&utm_campaign=campaign-${campaign}`
}
