// What a page says that matters to a form on it: its forms and their controls, scripts, base address and policies.

import { readTags, type Tag } from './read-tags.ts'

export interface FormControl {
  tag: 'input' | 'select' | 'textarea' | 'button'
  /** Of inputs and buttons, in lower case. */
  type: string
  name: string
  attributes: Map<string, string>
  disabled: boolean
  /** Something on it or around it may keep people from seeing it: a style, `hidden`, or a class or id of its own. */
  concealed: boolean
}

export interface PageForm {
  /** Counted from 1, as the page has them. */
  position: number
  attributes: Map<string, string>
  controls: FormControl[]
}

export interface ParsedPage {
  forms: PageForm[]
  scripts: Map<string, string>[]
  metas: Map<string, string>[]
  baseHref: string | undefined
  /** Has a Turnstile box that the page put there itself. */
  hasOwnTurnstile: boolean
}

interface Ancestor {
  name: string
  concealing: boolean
  disabling: boolean
}

// As deep as browsers nest elements, so that a hostile page costs no more.
const DEPTH_MAX = 512

const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/
const CONTROL = /^(input|select|textarea|button)$/
const HIDING_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0|clip|(left|top|right|bottom|indent)\s*:\s*-\d{3}|(height|width)\s*:\s*[01](px)?\s*(;|!|$)/i

export function parsePage(html: string): ParsedPage {
  const facts: ParsedPage = { forms: [], scripts: [], metas: [], baseHref: undefined, hasOwnTurnstile: false }
  const byId = new Map<string, PageForm>()
  const elsewhere: { form: string; control: FormControl }[] = []
  let open: PageForm | undefined
  let templates = 0
  let around: Ancestor[] = []

  const begin = (tag: Tag) => {
    const { name, attributes } = tag
    // A form inside of a form is not one, and its end tag ends the outer one.
    if (name === 'form' && !open) {
      open = { position: facts.forms.length + 1, attributes, controls: [] }
      facts.forms.push(open)
      const id = attributes.get('id')
      if (id && !byId.has(id)) byId.set(id, open)
      around = []
    } else if (CONTROL.test(name)) {
      const control = toControl(tag, around)
      const form = attributes.get('form')
      if (form !== undefined) elsewhere.push({ form, control })
      else open?.controls.push(control)
    } else if (name === 'script') facts.scripts.push(attributes)
    else if (name === 'meta') facts.metas.push(attributes)
    else if (name === 'base') facts.baseHref ??= attributes.get('href')
    if (/(^|\s)cf-turnstile(\s|$)/.test(attributes.get('class') ?? '')) facts.hasOwnTurnstile = true
    if (name !== 'form' && !VOID.test(name) && around.length < DEPTH_MAX) {
      const disabling = name === 'fieldset' && attributes.has('disabled')
      around.push({ name, concealing: mayHide(attributes), disabling })
    }
  }

  readTags(html, (tag) => {
    // What is in a template is not on the page.
    if (tag.name === 'template') templates = Math.max(0, templates + (tag.end ? -1 : 1))
    else if (templates > 0) return
    else if (!tag.end) begin(tag)
    else if (tag.name === 'form') open = undefined
    else {
      const at = around.findLastIndex(({ name }) => name === tag.name)
      if (at >= 0) around.length = at
    }
  })
  // `form="id"` puts a control into a form that stands somewhere else, also further down.
  for (const { form, control } of elsewhere) byId.get(form)?.controls.push(control)
  return facts
}

function toControl({ name, attributes }: Tag, around: Ancestor[]): FormControl {
  const type = (attributes.get('type') ?? '').trim().toLowerCase()
  return {
    tag: name as FormControl['tag'],
    type:
      name === 'button'
        ? /^(reset|button)$/.test(type)
          ? type
          : 'submit'
        : name === 'input'
          ? type || 'text'
          : '',
    name: attributes.get('name') ?? '',
    attributes,
    disabled: attributes.has('disabled') || around.some(({ disabling }) => disabling),
    concealed: mayHide(attributes) || around.some(({ concealing }) => concealing),
  }
}

/** The style sheet is not read: a class or an id is taken as meant well. */
const mayHide = (attributes: Map<string, string>) =>
  ['hidden', 'class', 'id', 'inert'].some((name) => attributes.has(name)) ||
  HIDING_STYLE.test(attributes.get('style') ?? '')
