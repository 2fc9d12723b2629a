// Reads from a page what the page check needs: its forms with their controls and labels, scripts, base address and meta elements.

import { readTags, type Tag } from '../../../lib/html/read-tags.ts'
import type { FormResource } from '../schema.ts'
import { type ControlTexts, createLabelReader, type LabelReader } from './label-reader.ts'

export interface FormControl {
  tag: 'input' | 'select' | 'textarea' | 'button'
  /** The type of an input or button, in lower case; '' for other controls. */
  type: string
  name: string
  attributes: Map<string, string>
  disabled: boolean
  /** A style, `hidden`, `inert`, a class or an id, on it or around it, may hide it from people. */
  concealed: boolean
  /** Only a `style` attribute, on it or around it, hides it. A policy of the page may forbid such styles. */
  concealedByStyle: boolean
  texts: ControlTexts
}

export interface PageForm {
  /** Counted from 1, in the order of the page. */
  position: number
  attributes: Map<string, string>
  controls: FormControl[]
}

export interface ParsedPage {
  forms: PageForm[]
  /** The labels that name a control, by its id. */
  labels: LabelReader['byId']
  scripts: Map<string, string>[]
  metas: Map<string, string>[]
  baseHref: string | undefined
  /** The page has its own Turnstile box. */
  hasOwnTurnstile: boolean
  /** The page has more than PAGE_MAX; what comes later is not read. */
  cut: boolean
}

/** A page, with the form that it should have: what all checks look at. */
export interface CheckedPage {
  form: CheckedForm
  parsedPage: ParsedPage
  headers: Headers
  /** The page's address; null where only its text is known. */
  page: URL | null
  /** The base of relative addresses on the page; null where it is unknown. */
  base: URL | null
  /** `https://go.example/f/k7m2xw9qpd` */
  endpoint: URL
  /** The form's addresses on all domains that the page may name. */
  endpoints: URL[]
  /** The workspace's public id, for the line that loads the snippet. */
  publicId: string
  /** The captcha is Cloudflare Turnstile, not the built-in one. */
  turnstile: boolean
}

export type CheckedForm = Pick<
  FormResource,
  | 'formKey'
  | 'enabled'
  | 'requiredFields'
  | 'redirectUrl'
  | 'pageUrl'
  | 'afterSubmit'
  | 'onError'
  | 'captcha'
  | 'allowedOrigins'
  | 'nextHosts'
  | 'rules'
  | 'uploads'
>

interface Ancestor {
  name: string
  concealing: Concealment | undefined
  disabling: boolean
}

// Browsers nest elements this deep. A hostile page must not cost more.
const DEPTH_MAX = 512

/** The most items that are read of one page: more than any real page has. */
const PAGE_MAX = { forms: 200, controls: 5_000, scripts: 1_000, metas: 200 }

const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/
const CONTROL = /^(input|select|textarea|button)$/
const HIDING_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0|clip|(left|top|right|bottom|indent)\s*:\s*-\d{3}|(height|width)\s*:\s*[01](px)?\s*(;|!|$)/i

export async function parsePage(html: string): Promise<ParsedPage> {
  const labels = createLabelReader()
  const page: ParsedPage = {
    forms: [],
    labels: labels.byId,
    scripts: [],
    metas: [],
    baseHref: undefined,
    hasOwnTurnstile: false,
    cut: false,
  }
  const byId = new Map<string, PageForm>()
  const detached: { form: string; control: FormControl }[] = []
  const ancestors = createAncestors()
  let openForm: PageForm | undefined
  let templateDepth = 0
  let controls = 0

  const add = <T>(list: T[], item: T, max: number) => {
    if (list.length < max) list.push(item)
    else page.cut = true
  }
  const addControl = (tag: Tag) => {
    if (++controls > PAGE_MAX.controls) {
      page.cut = true
      return
    }
    const control = { ...toControl(tag, ancestors), texts: labels.getTexts() }
    const form = tag.attributes.get('form')
    if (form !== undefined) detached.push({ form, control })
    else openForm?.controls.push(control)
  }
  const handleStartTag = (tag: Tag) => {
    const { name, attributes } = tag
    // Browsers ignore a form inside a form, and the inner end tag ends the outer form.
    if (name === 'form' && !openForm) {
      openForm = { position: page.forms.length + 1, attributes, controls: [] }
      add(page.forms, openForm, PAGE_MAX.forms)
      const id = attributes.get('id')
      if (id && !byId.has(id)) byId.set(id, openForm)
      ancestors.clear()
    } else if (CONTROL.test(name)) addControl(tag)
    else if (name === 'script') add(page.scripts, attributes, PAGE_MAX.scripts)
    else if (name === 'meta') add(page.metas, attributes, PAGE_MAX.metas)
    else if (name === 'base') page.baseHref ??= attributes.get('href')
    if (/(^|\s)cf-turnstile(\s|$)/.test(attributes.get('class') ?? '')) page.hasOwnTurnstile = true
    labels.open(tag)
    if (name !== 'form' && !VOID.test(name)) ancestors.open(tag)
  }

  const handleTag = (tag: Tag) => {
    // The content of a template is not on the page.
    if (tag.name === 'template') templateDepth = Math.max(0, templateDepth + (tag.end ? -1 : 1))
    else if (templateDepth > 0) return
    else if (!tag.end) handleStartTag(tag)
    else if (tag.name === 'form') openForm = undefined
    else {
      labels.close(tag.name)
      ancestors.close(tag.name)
    }
  }
  await readTags(html, handleTag, { onText: (text) => templateDepth === 0 && labels.addText(text) })
  // `form="id"` puts a control into the form with this id, which may come later on the page.
  for (const { form, control } of detached) byId.get(form)?.controls.push(control)
  return page
}

type Ancestors = ReturnType<typeof createAncestors>

/** The open elements. It counts names and properties, because a search through them at each tag would take seconds. */
function createAncestors() {
  let elements: Ancestor[] = []
  let openByName = new Map<string, number>()
  const concealing = { attribute: 0, style: 0 }
  let disabling = 0
  const count = (element: Ancestor, change: 1 | -1) => {
    openByName.set(element.name, (openByName.get(element.name) ?? 0) + change)
    if (element.concealing) concealing[element.concealing] += change
    if (element.disabling) disabling += change
  }
  return {
    open({ name, attributes }: Tag) {
      if (elements.length >= DEPTH_MAX) return
      const isDisabling = name === 'fieldset' && attributes.has('disabled')
      const element = { name, concealing: findConcealment(attributes), disabling: isDisabling }
      elements.push(element)
      count(element, 1)
    },
    /** Closes the innermost element with the name, and all in it. An end tag without a start tag closes nothing. */
    close(name: string) {
      if (!openByName.get(name)) return
      for (let element = elements.pop(); element; element = elements.pop()) {
        count(element, -1)
        if (element.name === name) return
      }
    },
    clear() {
      elements = []
      openByName = new Map()
      concealing.attribute = concealing.style = disabling = 0
    },
    conceal: (by: Concealment) => concealing[by] > 0,
    disable: () => disabling > 0,
  }
}

function toControl({ name, attributes }: Tag, ancestors: Ancestors): Omit<FormControl, 'texts'> {
  const type = (attributes.get('type') ?? '').trim().toLowerCase()
  const own = findConcealment(attributes)
  const byAttribute = own === 'attribute' || ancestors.conceal('attribute')
  const byStyle = own === 'style' || ancestors.conceal('style')
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
    disabled: attributes.has('disabled') || ancestors.disable(),
    concealed: byAttribute || byStyle,
    concealedByStyle: byStyle && !byAttribute,
  }
}

type Concealment = 'attribute' | 'style'

/** Style sheets are not read, so any class or id may hide an element. */
function findConcealment(attributes: Map<string, string>): Concealment | undefined {
  if (['hidden', 'class', 'id', 'inert'].some((name) => attributes.has(name))) return 'attribute'
  return HIDING_STYLE.test(attributes.get('style') ?? '') ? 'style' : undefined
}
