// Collects the texts of a page's labels and legends while its tags are read.

import type { Tag } from '../../../lib/html/read-tags.ts'

/** Longer texts of labels are cut while they are read. */
export const LABEL_TEXT_MAX = 1_000
/** A page that nests deeper has no labels there. */
const DEPTH_MAX = 32
/** A text that is still being read. */
export interface PageText {
  text: string
}

/** Elements around a control. */
export interface ControlTexts {
  /** The enclosing label. */
  around?: PageText
  /** The legend of its group. */
  legend?: PageText
}

/** The content of these is no part of a label. `option` has an optional end tag, so its `select` counts. */
const APART = /^(select|textarea|script|style|button|datalist)$/

export type LabelReader = ReturnType<typeof createLabelReader>

export function createLabelReader() {
  const byId = new Map<string, PageText>()
  const legends: PageText[] = []
  let label: PageText | undefined
  let legend: PageText | undefined
  let apart = ''
  return {
    byId,
    open({ name, attributes }: Tag) {
      if (name === 'label') {
        label = { text: '' }
        // An end tag is missing.
        apart = ''
        const id = attributes.get('for')
        if (id && !byId.has(id)) byId.set(id, label)
      } else if (name === 'fieldset' && legends.length < DEPTH_MAX) legends.push({ text: '' })
      else if (name === 'legend') legend = legends.at(-1)
      else if (apart === '' && APART.test(name)) apart = name
    },
    close(name: string) {
      if (name === 'label') label = undefined
      else if (name === 'fieldset') legends.pop()
      else if (name === 'legend') legend = undefined
      else if (name === apart) apart = ''
    },
    addText(text: string) {
      if (apart !== '') return
      for (const each of [label, legend])
        if (each && each.text.length < LABEL_TEXT_MAX) each.text += text.slice(0, LABEL_TEXT_MAX)
    },
    getTexts: (): ControlTexts => ({ around: label, legend: legends.at(-1) }),
  }
}
