// The report of a view in a mail: its subject, and tables with bars that Gmail and Outlook draw alike.

import { html } from 'hono/html'
import type { ReportContent } from './contract.ts'
import { toOneLine, truncateText } from './safe-text.ts'

const LABEL_MAX = 80
const BARS_MAX = 31

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const percents = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'always',
})

export const formatReportCount = (count: number) => numbers.format(count)

/** Such as `+12% from 1,100`; '' where there is nothing to compare with. */
export const formatChange = ({ count, before }: { count: number; before: number }) =>
  before === 0 ? '' : `${formatGrowth(count, before)} from ${numbers.format(before)}`

/** Such as `+12%`. */
export const formatGrowth = (count: number, before: number) => percents.format((count - before) / before)

export const toReportSubject = ({ name, totals: [first], period }: ReportContent) =>
  first
    ? `${name}: ${numbers.format(first.count)} ${first.label.toLowerCase()}, ${period}`
    : `${name}: ${period}`

const SOFT = 'color:#57635e;font-size:14px'
const CELL = 'padding:4px 12px 4px 0;border-bottom:1px solid #e3e8e5'
const toLabel = (label: string) => truncateText(toOneLine(label), LABEL_MAX)
/** A short URL breaks before its slug. */
const toBreakable = (label: string) =>
  label.split('/').map((part, i) => html`${i === 0 ? '' : html`/<wbr>`}${part}`)

export const renderReport = ({ name, period, timezone, totals, time, lists }: ReportContent) =>
  html`<h1 dir="auto" style="font-size:20px;margin:0">${toLabel(name)}</h1>
<p style="${SOFT};margin:4px 0 16px">${period} (${timezone})</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse;margin:0 0 16px"><tr>${totals.map(
    (total) =>
      html`<td valign="top" style="padding:0 12px 8px 0"><div style="${SOFT}">${total.label}</div><div style="font-size:24px;line-height:1.3">${numbers.format(total.count)}</div><div style="${SOFT}">${formatChange(total)}</div></td>`,
  )}</tr></table>
${time.length > 1 && time.length <= BARS_MAX ? toTable(totals[0]?.label ?? '', time) : ''}
${lists.map(({ title, rows }) => (rows.length === 0 ? '' : toTable(title, rows)))}`

/** Each row has its number, and a bar beside it: a cell whose width is a part of the largest row's. */
function toTable(title: string, rows: { label: string; count: number }[]) {
  const most = Math.max(1, ...rows.map(({ count }) => count))
  const toWidth = (count: number) => Math.round((count / most) * 100)
  return html`<h2 style="font-size:16px;margin:16px 0 4px">${title}</h2>
<table width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse;font-size:14px">${rows.map(
    ({ label, count }) =>
      html`<tr><td dir="auto" width="50%" style="${CELL};overflow-wrap:anywhere;word-break:break-word">${toBreakable(toLabel(label))}</td><td align="right" width="15%" style="${CELL}">${numbers.format(count)}</td><td width="35%" style="${CELL}">${toWidth(count) === 0 ? '' : html`<table role="presentation" width="${toWidth(count)}%" cellpadding="0" cellspacing="0"><tr><td height="10" bgcolor="#17624a" style="height:10px;font-size:1px;line-height:1px;background:#17624a">&nbsp;</td></tr></table>`}</td></tr>
`,
  )}</table>
`
}
