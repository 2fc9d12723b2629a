// Generates what became of the demo's leads: about a third are qualified, and half of those are won some days later.

import { createRandom } from '../../lib/seeded-random.ts'
import { DAY } from './clicks.ts'
import type { DemoLead } from './leads.ts'

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
    const [isQualified, isWon] = [random() < 0.34, random() < 0.5]
    const [days, price, place] = [random(), random(), random()]
    if (!isQualified || lead.again || lead.status === 'spam' || lead.status === 'new') continue
    const nothing = { lead, value: null, currency: null }
    const decidedAt = lead.at + (1 + days * 6) * DAY
    outcomes.push({ ...nothing, stage: 'qualified', at: Math.min(Math.floor(lead.at + days * DAY), now) })
    if (decidedAt > now) continue
    const at = Math.floor(decidedAt)
    const money = { value: `${Math.round(290 + price * 2400)}.00`, currency: place < 0.9 ? 'EUR' : 'CHF' }
    outcomes.push(isWon ? { lead, ...money, stage: 'won', at } : { ...nothing, stage: 'lost', at })
  }
  return outcomes
}
