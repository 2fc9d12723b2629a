// A country's flag, or its two letters where the system has no flag font (Windows, some Linux).

import { toFlagEmoji } from './format.ts'

let flagsSupported: boolean | undefined

/** Draws a flag and looks for colored pixels: letters and empty boxes have none. */
function detectFlagSupport(): boolean {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 24
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return false
  context.font = '20px sans-serif'
  context.fillText(toFlagEmoji('DE'), 0, 20)
  const { data } = context.getImageData(0, 0, 24, 24)
  for (let at = 0; at < data.length; at += 4) {
    if (Math.abs((data[at] ?? 0) - (data[at + 2] ?? 0)) > 40) return true
  }
  return false
}

export function CountryFlag({ code }: { code: string }) {
  flagsSupported ??= detectFlagSupport()
  const flag = toFlagEmoji(code)
  if (flagsSupported) return <span aria-hidden>{flag || '🏳️'}</span>
  return (
    <span
      aria-hidden
      className="inline-block w-7 shrink-0 rounded border border-line bg-card text-center text-xs leading-4.5 text-soft"
    >
      {flag ? code : '?'}
    </span>
  )
}
