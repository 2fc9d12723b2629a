// Generates the outcomes of the demo's leads: about half of the requests are qualified, and half of those are won
// some days later.

import { createRandom } from '../../lib/seeded-random.ts'
import { DAY } from './clicks.ts'
import type { FormName } from './company.ts'
import type { DemoLead } from './leads.ts'

/** The minimum and maximum value of a form's won lead. Readers of the newsletter buy in the shop. */
const PRICES: Partial<Record<FormName, [least: number, most: number]>> = {
  workshop: [60, 480],
  wholesale: [900, 6_400],
  contact: [40, 650],
}

export interface DemoOutcome {
  lead: DemoLead
  stage: 'qualified' | 'won' | 'lost'
  value: string | null
  currency: string | null
  at: number
}

export function generateOutcomes(leads: DemoLead[], now: number): DemoOutcome[] {
  const random = createRandom(39)
  const outcomes: DemoOutcome[] = []
  for (const lead of leads) {
    const [isQualified, isWon] = [random() < 0.55, random() < 0.5]
    const [days, price, place] = [random(), random(), random()]
    const prices = PRICES[lead.form]
    if (!isQualified || !prices || lead.again || lead.status === 'spam' || lead.status === 'new') continue
    const nothing = { lead, value: null, currency: null }
    const decidedAt = lead.at + (1 + days * 6) * DAY
    outcomes.push({ ...nothing, stage: 'qualified', at: Math.min(Math.floor(lead.at + days * DAY), now) })
    if (decidedAt > now) continue
    const at = Math.floor(decidedAt)
    const money = {
      value: `${Math.round(prices[0] + price * (prices[1] - prices[0]))}.00`,
      currency: place < 0.9 ? 'EUR' : 'CHF',
    }
    outcomes.push(isWon ? { lead, ...money, stage: 'won', at } : { ...nothing, stage: 'lost', at })
  }
  return outcomes
}
