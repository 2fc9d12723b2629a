// Reads the code blocks of a documentation page, so that a test can run them.

import { join } from 'node:path'
import { ROOT } from './architecture/read-checkout.ts'

export interface CodeBlock {
  language: string
  code: string
  /** The heading above it. */
  heading: string
}

/** @param path from the root, such as `docs/hosting.md` */
export async function readCodeBlocks(path: string): Promise<CodeBlock[]> {
  const text = await Bun.file(join(ROOT, path)).text()
  const parts = text.matchAll(/^#+ (?<heading>.+)$|^```(?<language>\w*)\n(?<code>[\s\S]*?)^```$/gm)
  let heading = ''
  return [...parts].flatMap(({ groups }) => {
    heading = groups?.heading ?? heading
    return groups?.code === undefined ? [] : [{ language: groups.language ?? '', code: groups.code, heading }]
  })
}

/** @throws when the page has none or several of the language below that heading */
export function getCodeBlock(blocks: CodeBlock[], heading: string, language: string): string {
  const found = blocks.filter((block) => block.heading === heading && block.language === language)
  if (found.length !== 1) throw new Error(`"${heading}" has ${found.length} blocks of ${language}, not one`)
  return (found[0] as CodeBlock).code
}
