// Writes the hits of the demo as lines of a batch, in the form in which the hit worker writes real hits.

import type { DemoHit } from './clicks.ts'
import type { StoredDemo } from './store-demo.ts'

export function toBatchLines(hits: DemoHit[], { workspaceId, linkIds }: StoredDemo): string {
  let lines = ''
  for (const hit of hits) {
    const { id, at, outcome, class: hitClass, trigger, person } = hit
    const { device, browser, os } = person.agent
    const dimensions = { ...person.place, device, browser, os, ...hit.referrer, ...hit.campaign }
    const linkId = linkIds[hit.link] ?? 0
    lines += `{"id":${id},"at":${at},"workspaceId":${workspaceId},"linkId":${linkId},"outcome":"${outcome}","class":"${hitClass}","trigger":"${trigger}","visitor":"${person.visitor}"`
    for (const [name, value] of Object.entries(dimensions)) {
      if (value !== null) lines += `,"${name}":${JSON.stringify(value)}`
    }
    lines += '}\n'
  }
  return lines
}
