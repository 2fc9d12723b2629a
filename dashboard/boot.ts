// Sets the stored theme before the first paint. The page waits for this small file, and not for main.tsx.

import { readTheme, setTheme } from './ui/theme.ts'

setTheme(readTheme())
