// Writes a form of the gallery as HTML to paste: styled, without a script, with the fields and limits of a form's settings.

import { HONEYPOT_HTML } from '../../../../server/features/forms/markup.ts'
import {
  type ExampleForm,
  escapeHtml,
  listFieldNames,
  toControlLabel,
  writeConsentInput,
  writeControl,
  writeEncoding,
  writeFileInput,
  writeLanguage,
} from '../form-controls.ts'
import { type FormTemplate, findKnownInput } from './templates.ts'

export const GALLERY_COLOR = '#17624a'

interface StyleRule {
  /** Within the form; the form itself when empty. */
  selector: string
  style: string[]
  /** The code shows the rule when the HTML contains this. */
  isFor?: string
}

const CONTROLS = ':is(input, select, textarea)'

const STYLE_RULES: StyleRule[] = [
  {
    selector: '',
    style: ['display: grid', 'gap: 1.25rem', 'max-width: 36rem', 'line-height: 1.5', 'color-scheme: light'],
  },
  { selector: 'h2', style: ['margin: 0'] },
  { selector: 'p', style: ['margin: -0.75rem 0 0'] },
  {
    selector: '.row',
    style: [
      'display: grid',
      'gap: 1.25rem',
      'grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr))',
    ],
    isFor: 'class="row"',
  },
  {
    selector: '.inline',
    style: ['display: flex', 'flex-wrap: wrap', 'align-items: end', 'gap: 0.75rem'],
    isFor: 'class="inline"',
  },
  { selector: '.inline label', style: ['flex: 1 1 14rem'], isFor: 'class="inline"' },
  {
    selector: 'label',
    style: ['display: grid', 'gap: 0.375rem', 'align-content: start', 'font-weight: 600'],
  },
  {
    selector: 'small',
    style: ['font-size: 0.875em', 'font-weight: 400', 'opacity: 0.8'],
    isFor: '<small>',
  },
  {
    selector: CONTROLS,
    style: [
      'box-sizing: border-box',
      'width: 100%',
      'min-height: 2.75rem',
      'padding: 0.5rem 0.75rem',
      'border: 1px solid #767f79',
      'border-radius: 0.5rem',
      'background: #fff',
      'color: #1c2421',
      'font: inherit',
      'font-weight: 400',
    ],
  },
  { selector: 'textarea', style: ['min-height: 8rem', 'resize: vertical'], isFor: '<textarea' },
  {
    selector: '.check',
    style: ['grid-template-columns: auto 1fr', 'gap: 0.75rem', 'font-weight: 400'],
    isFor: 'class="check"',
  },
  {
    selector: '[type="checkbox"]',
    style: [
      'width: 1.25rem',
      'height: 1.25rem',
      'min-height: 0',
      'margin: 0.125rem 0 0',
      'accent-color: var(--accent)',
    ],
    isFor: 'class="check"',
  },
  {
    selector: 'button',
    style: [
      'justify-self: start',
      'min-height: 2.75rem',
      'padding: 0.5rem 1.5rem',
      'border: 0',
      'border-radius: 0.5rem',
      'background: var(--accent)',
      'color: #fff',
      'font: inherit',
      'font-weight: 600',
      'cursor: pointer',
    ],
  },
  { selector: `${CONTROLS}:user-invalid`, style: ['border-color: #b42318'] },
  {
    selector: ':is(input, select, textarea, button):focus-visible',
    style: ['outline: 3px solid var(--accent)', 'outline-offset: 2px'],
  },
]

function writeStyles(color: string, html: string): string {
  const rules = STYLE_RULES.filter(({ isFor }) => isFor === undefined || html.includes(isFor))
  const lines = rules.map(({ selector, style }) =>
    writeRule(selector, selector === '' ? [`--accent: ${color}`, ...style] : style),
  )
  return ['<style>', ...lines, '</style>'].join('\n')
}

const writeRule = (selector: string, style: string[]) =>
  [`  .tp-form${selector && ' '}${selector} {`, ...style.map((line) => `    ${line};`), '  }'].join('\n')

/** Where some fields are required, the others say that they are not. */
const writeLabel = (name: string, form: ExampleForm) =>
  `<span>${escapeHtml(toControlLabel(name, form))}${
    form.requiredFields.length > 0 && !form.requiredFields.includes(name) ? ' <small>(optional)</small>' : ''
  }</span>`

const writeField = (name: string, form: ExampleForm) =>
  `<label>${writeLabel(name, form)} ${writeControl(name, form, findKnownInput(name))}</label>`

function writeFiles(form: ExampleForm): string[] {
  const { uploads } = form
  if (!uploads) return []
  const isMany = uploads.maxFiles > 1
  const size = `${Math.round(uploads.maxBytes / 104_857.6) / 10} MB`
  const hint = isMany ? `Up to ${uploads.maxFiles} files, ${size} each` : `Up to ${size}`
  return [
    `<label><span>${isMany ? 'Files' : 'File'}</span> ${writeFileInput(form)} <small>${hint}</small></label>`,
  ]
}

const indent = (lines: string[], by: string) => lines.map((line) => by + line)

const writeBox = (name: string, lines: string[]) => [
  `<div class="${name}">`,
  ...indent(lines, '  '),
  '</div>',
]

function writeFields({ fields }: FormTemplate, form: ExampleForm): string[] {
  const listed = fields.flat()
  const names = listFieldNames(form, listed)
  const isNamed = (name: string) => names.includes(name)
  const rows = fields.flatMap((row) => {
    const lines = [row]
      .flat()
      .filter(isNamed)
      .map((name) => writeField(name, form))
    return lines.length > 1 ? writeBox('row', lines) : lines
  })
  const others = names.filter((name) => !listed.includes(name)).map((name) => writeField(name, form))
  return [...rows, ...others]
}

/** @param snippet the script tag that shows the captcha, where the form has one */
export function writeTemplate(
  template: FormTemplate,
  form: ExampleForm,
  { color, snippet }: { color?: string | null; snippet?: string },
): string {
  const fields = writeFields(template, form)
  const consent = form.consent
    ? [
        `<label class="check">${writeConsentInput(form.consent.field, form)} <span>${escapeHtml(form.consent.text)}</span></label>`,
      ]
    : []
  const more = [...writeFiles(form), ...consent]
  const button = `<button>${template.button}</button>`
  // One field and its button are one line.
  const content =
    fields.length === 1 && more.length === 0
      ? writeBox('inline', [...fields, button])
      : [...fields, ...more, button]
  const lines = [
    `<h2>${template.title}</h2>`,
    `<p>${template.text}</p>`,
    ...writeLanguage(form.messages),
    HONEYPOT_HTML,
    ...content,
  ]
  const html = `<form class="tp-form" action="${escapeHtml(form.endpoint)}" method="post"${writeEncoding(form)}>
${indent(lines, '  ').join('\n')}
</form>`
  return [
    ...(form.captcha && snippet ? [`<!-- Shows the captcha. One is enough for a page. -->\n${snippet}`] : []),
    writeStyles(color ?? GALLERY_COLOR, html),
    html,
  ].join('\n\n')
}
