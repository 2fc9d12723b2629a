// The list of a Select: a plain one, or one with a search field where it is long. It is open at first.

import { Combobox } from '@base-ui/react/combobox'
import { Select } from '@base-ui/react/select'
import { Check } from 'lucide-react'
import { useRef, useState } from 'react'
import { classNames } from '../class-names.ts'
import type { SelectOption } from '../forms/read-options.ts'
import { type OpenSelectProps, SelectFace } from '../forms/select-face.tsx'

/** Matches the start of a word: "ger" finds Germany, and not Algeria. */
const isMatch = ({ text }: SelectOption, query: string) =>
  toWords(text).includes(toWords(query.trimStart()).trimEnd())

/** Without accents, and with a space before each word. */
const toWords = (text: string) =>
  ` ${text
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')}`

/** A longer list has a search field. */
const PLAIN_MAX = 12

const POSITION = { className: 'z-50', align: 'start', sideOffset: 4, collisionPadding: 8 } as const
const POPUP =
  'appear flex max-h-[min(24rem,var(--available-height))] min-w-(--anchor-width) max-w-[min(28rem,var(--available-width))] flex-col rounded-xl border border-line bg-card shadow-lg outline-none'
const LIST = 'min-h-0 scroll-py-1 overflow-y-auto overscroll-contain p-1 empty:p-0'
const ITEM =
  'flex cursor-default items-center gap-2 rounded-lg py-1.5 pr-3 pl-2 outline-none select-none data-highlighted:bg-hover data-disabled:opacity-55'
const MARK = 'grid size-4 shrink-0 place-items-center'

const CheckMark = () => <Check size={15} aria-hidden className="text-accent" />

/** An open list has the name of its button: of its label, where it is in a Field. */
const name = ({ id, 'aria-label': label }: Pick<OpenSelectProps, 'id' | 'aria-label'>) =>
  label ? { 'aria-label': label } : { 'aria-labelledby': `${id}-label` }

export const OpenSelect = (props: OpenSelectProps) =>
  props.options.length > PLAIN_MAX ? <SearchedSelect {...props} /> : <PlainSelect {...props} />

function PlainSelect({ options, chosen, choose, ...button }: OpenSelectProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(true)
  return (
    <Select.Root
      open={open}
      onOpenChange={setOpen}
      modal={false}
      disabled={button.disabled}
      value={chosen?.value ?? null}
      onValueChange={(value) => value !== null && choose(value)}
    >
      <Select.Trigger {...button} ref={trigger}>
        <SelectFace chosen={chosen} />
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner {...POSITION} alignItemWithTrigger={false}>
          <Select.Popup finalFocus={trigger} className={POPUP}>
            <Select.List {...(open && name(button))} className={LIST}>
              {options.map((option) => (
                <Select.Item
                  key={option.value}
                  value={option.value}
                  disabled={option.disabled}
                  label={option.text}
                  className={ITEM}
                >
                  <span className={MARK}>
                    <Select.ItemIndicator>
                      <CheckMark />
                    </Select.ItemIndicator>
                  </span>
                  <Select.ItemText className="min-w-0 break-words">{option.label}</Select.ItemText>
                </Select.Item>
              ))}
            </Select.List>
          </Select.Popup>
        </Select.Positioner>
      </Select.Portal>
    </Select.Root>
  )
}

function SearchedSelect({ options, chosen, choose, ...button }: OpenSelectProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(true)
  return (
    <Combobox.Root
      open={open}
      onOpenChange={setOpen}
      disabled={button.disabled}
      items={options}
      filter={isMatch}
      value={chosen ?? null}
      onValueChange={(option) => option && choose(option.value)}
      itemToStringLabel={(option: SelectOption) => option.text}
      isItemEqualToValue={(a: SelectOption, b: SelectOption) => a.value === b.value}
      autoHighlight
    >
      <Combobox.Trigger {...button} ref={trigger}>
        <SelectFace chosen={chosen} />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner {...POSITION}>
          <Combobox.Popup
            finalFocus={trigger}
            {...(open && name(button))}
            className={classNames(POPUP, 'min-w-56')}
          >
            <Combobox.Input
              aria-label="Search"
              placeholder="Search"
              className="h-10 w-full shrink-0 rounded-t-xl border-b border-line bg-card px-3 outline-none"
            />
            <Combobox.Empty className="px-3 text-sm text-soft empty:hidden">
              <p className="py-4">No matches</p>
            </Combobox.Empty>
            <Combobox.List {...(open && name(button))} className={LIST}>
              {(option: SelectOption) => (
                <Combobox.Item key={option.value} value={option} disabled={option.disabled} className={ITEM}>
                  <span className={MARK}>
                    <Combobox.ItemIndicator>
                      <CheckMark />
                    </Combobox.ItemIndicator>
                  </span>
                  <span className="min-w-0 break-words">{option.label}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
