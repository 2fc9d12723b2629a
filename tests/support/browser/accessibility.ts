// Finds barriers for people with screen readers, keyboards or weak eyes: the rules of axe.

import type { Page } from 'playwright-core'

const AXE = Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

/**
 * @param part a selector of the elements to check
 * @param rule the only rule to try; all of them when absent
 * @returns the serious and critical violations, with their elements
 */
export async function findBarriers(page: Page, part = ':root', rule?: string): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await Bun.file(AXE).text())
  // The styles are read from the elements: loading the style sheets once more would double the time.
  const options = { resultTypes: ['violations'], preload: false, ...(rule && { runOnly: [rule] }) }
  const { violations } = await page.evaluate<AxeResult>(`axe.run('${part}', ${JSON.stringify(options)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}
