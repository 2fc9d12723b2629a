// A box to try a pattern in, with the engine of the server, which is loaded when somebody types into the box.

import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { useId, useState } from 'react'
import { Field, Input } from '../../../../ui/forms/field.tsx'

export function PatternTrial({ pattern }: { pattern: string }) {
  const [value, setValue] = useState('')
  const id = useId()
  const engine = useQuery({
    queryKey: ['regular expressions'],
    queryFn: async () => (await import('re2js')).RE2JS,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: value !== '',
  })
  const result = value !== '' && engine.data ? tryPattern(engine.data, pattern, value) : undefined
  const Icon = result?.matches ? CircleCheck : CircleX
  return (
    <Field label="Try the pattern" hint="A value to check. It is not stored.">
      {(control) => (
        <span className="grid gap-1.5">
          <Input
            {...control}
            value={value}
            autoComplete="off"
            aria-details={id}
            onChange={(event) => setValue(event.target.value)}
          />
          <span id={id} role="status" className="text-sm">
            {result && (
              <span className={`flex items-center gap-1.5 ${result.matches ? 'text-accent' : 'text-danger'}`}>
                <Icon size={16} aria-hidden className="shrink-0" />
                <span className="min-w-0 break-words">{result.sentence}</span>
              </span>
            )}
          </span>
        </span>
      )}
    </Field>
  )
}

type Engine = typeof import('re2js').RE2JS

function tryPattern(engine: Engine, pattern: string, value: string) {
  try {
    const matches = engine.compile(pattern).matches(value)
    return { matches, sentence: matches ? 'The value is accepted.' : 'The value is rejected.' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { matches: false, sentence: `The pattern cannot be used: ${reason}` }
  }
}
