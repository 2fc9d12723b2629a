// Reads from a page what the page check needs: its forms and their controls, scripts, base address and meta elements.

import { readTags, type Tag } from './read-tags.ts'

export interface FormControl {
  tag: 'input' | 'select' | 'textarea' | 'button'
  /** The type of an input or button, in lower case; '' for other controls. */
  type: string
  name: string
  attributes: Map<string, string>
  disabled: boolean
  /** A style, `hidden`, `inert`, a class or an id, on it or around it, may hide it from people. */
  concealed: boolean
}

export interface PageForm {
  /** From 1, in the order of the page. */
  position: number
  attributes: Map<string, string>
  controls: FormControl[]
}

export interface ParsedPage {
  forms: PageForm[]
  scripts: Map<string, string>[]
  metas: Map<string, string>[]
  baseHref: string | undefined
  /** The page has a Turnstile box of its own. */
  hasOwnTurnstile: boolean
}

interface Ancestor {
  name: string
  concealing: boolean
  disabling: boolean
}

// Browsers nest elements this deep. A hostile page must not cost more.
const DEPTH_MAX = 512

const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/
const CONTROL = /^(input|select|textarea|button)$/
const HIDING_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0|clip|(left|top|right|bottom|indent)\s*:\s*-\d{3}|(height|width)\s*:\s*[01](px)?\s*(;|!|$)/i

export function parsePage(html: string): ParsedPage {
  const page: ParsedPage = { forms: [], scripts: [], metas: [], baseHref: undefined, hasOwnTurnstile: false }
  const byId = new Map<string, PageForm>()
  const detached: { form: string; control: FormControl }[] = []
  let openForm: PageForm | undefined
  let templateDepth = 0
  let ancestors: Ancestor[] = []

  const handleStartTag = (tag: Tag) => {
    const { name, attributes } = tag
    // Browsers ignore a form inside a form, and the inner end tag ends the outer form.
    if (name === 'form' && !openForm) {
      openForm = { position: page.forms.length + 1, attributes, controls: [] }
      page.forms.push(openForm)
      const id = attributes.get('id')
      if (id && !byId.has(id)) byId.set(id, openForm)
      ancestors = []
    } else if (CONTROL.test(name)) {
      const control = toControl(tag, ancestors)
      const form = attributes.get('form')
      if (form !== undefined) detached.push({ form, control })
      else openForm?.controls.push(control)
    } else if (name === 'script') page.scripts.push(attributes)
    else if (name === 'meta') page.metas.push(attributes)
    else if (name === 'base') page.baseHref ??= attributes.get('href')
    if (/(^|\s)cf-turnstile(\s|$)/.test(attributes.get('class') ?? '')) page.hasOwnTurnstile = true
    if (name !== 'form' && !VOID.test(name) && ancestors.length < DEPTH_MAX) {
      const disabling = name === 'fieldset' && attributes.has('disabled')
      ancestors.push({ name, concealing: mayHide(attributes), disabling })
    }
  }

  readTags(html, (tag) => {
    // The content of a template is not on the page.
    if (tag.name === 'template') templateDepth = Math.max(0, templateDepth + (tag.end ? -1 : 1))
    else if (templateDepth > 0) return
    else if (!tag.end) handleStartTag(tag)
    else if (tag.name === 'form') openForm = undefined
    else {
      const at = ancestors.findLastIndex(({ name }) => name === tag.name)
      if (at >= 0) ancestors.length = at
    }
  })
  // `form="id"` puts a control into the form with this id, which may come later on the page.
  for (const { form, control } of detached) byId.get(form)?.controls.push(control)
  return page
}

function toControl({ name, attributes }: Tag, ancestors: Ancestor[]): FormControl {
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
    disabled: attributes.has('disabled') || ancestors.some(({ disabling }) => disabling),
    concealed: mayHide(attributes) || ancestors.some(({ concealing }) => concealing),
  }
}

/** Style sheets are not read, so any class or id may hide an element. */
const mayHide = (attributes: Map<string, string>) =>
  ['hidden', 'class', 'id', 'inert'].some((name) => attributes.has(name)) ||
  HIDING_STYLE.test(attributes.get('style') ?? '')
