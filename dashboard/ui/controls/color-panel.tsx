// Swatches, and sliders for hue, saturation and lightness.

import { useState } from 'react'
import { classNames } from '../class-names.ts'
import { type Hsl, toHex, toHsl } from './hsl.ts'

const SWATCHES = [
  ['Black', '#000000'],
  ['Gray', '#55615c'],
  ['White', '#ffffff'],
  ['Red', '#b42318'],
  ['Orange', '#b54708'],
  ['Yellow', '#8a6100'],
  ['Green', '#17624a'],
  ['Teal', '#0e6f6f'],
  ['Blue', '#175cd3'],
  ['Indigo', '#3538cd'],
  ['Purple', '#6941c6'],
  ['Pink', '#c11574'],
] as const

const HUES = [0, 60, 120, 180, 240, 300, 359]

export function ColorPanel({ value, onChange }: { value: string; onChange: (color: string) => void }) {
  // Gray has no hue, so the sliders keep theirs instead of reading it from the color.
  const [own, setOwn] = useState<Hsl>()
  const hsl = own && toHex(own) === value ? own : toHsl(value)
  const set = (part: Partial<Hsl>) => {
    const next = { ...hsl, ...part }
    setOwn(next)
    onChange(toHex(next))
  }
  const slide = (label: string, part: keyof Hsl, max: number, stops: Hsl[]) => (
    <ColorSlider
      label={label}
      value={hsl[part]}
      max={max}
      background={`linear-gradient(to right, ${stops.map(toHex).join(', ')})`}
      onChange={(next) => set({ [part]: next })}
    />
  )
  return (
    <div className="grid gap-3 p-3">
      <div className="grid grid-cols-6 justify-items-center gap-2">
        {SWATCHES.map(([name, color]) => (
          <button
            key={color}
            type="button"
            title={name}
            aria-label={name}
            aria-pressed={value.toLowerCase() === color}
            className={classNames(
              'size-7 rounded-md border border-strong',
              value.toLowerCase() === color && 'outline-2 outline-offset-2 outline-accent',
            )}
            style={{ background: color }}
            onClick={() => {
              setOwn(undefined)
              onChange(color)
            }}
          />
        ))}
      </div>
      {slide(
        'Hue',
        'hue',
        359,
        HUES.map((hue) => ({ hue, saturation: 100, lightness: 50 })),
      )}
      {slide(
        'Saturation',
        'saturation',
        100,
        [0, 100].map((saturation) => ({ ...hsl, saturation })),
      )}
      {slide(
        'Lightness',
        'lightness',
        100,
        [0, 50, 100].map((lightness) => ({ ...hsl, lightness })),
      )}
    </div>
  )
}

interface SliderProps {
  label: string
  value: number
  max: number
  background: string
  onChange: (value: number) => void
}

const SLIDER =
  'h-2.5 w-full cursor-pointer appearance-none rounded-full border border-line [&::-moz-range-thumb]:size-3 [&::-moz-range-thumb]:rounded-full [&::-moz-range-thumb]:border-2 [&::-moz-range-thumb]:border-white [&::-moz-range-thumb]:bg-[#1c2421] [&::-webkit-slider-thumb]:size-4 [&::-webkit-slider-thumb]:appearance-none [&::-webkit-slider-thumb]:rounded-full [&::-webkit-slider-thumb]:border-2 [&::-webkit-slider-thumb]:border-white [&::-webkit-slider-thumb]:bg-[#1c2421]'

const ColorSlider = ({ label, value, max, background, onChange }: SliderProps) => (
  <label className="grid gap-1.5 text-sm">
    <span className="flex justify-between">
      {label}
      <span aria-hidden className="text-soft tabular-nums">
        {value}
      </span>
    </span>
    <input
      type="range"
      min={0}
      max={max}
      value={value}
      className={SLIDER}
      style={{ background }}
      onChange={({ target }) => onChange(Number(target.value))}
    />
  </label>
)
