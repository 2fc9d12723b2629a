// Sets the stored theme before the first paint, and sends the first requests. The page waits for this small file, and not
// for main.tsx.

import { askEarly } from './api/early-answers.ts'
import { readTheme, setTheme } from './ui/theme.ts'

setTheme(readTheme())
askEarly(location.pathname)
