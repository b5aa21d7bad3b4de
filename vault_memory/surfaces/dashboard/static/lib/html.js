// The one place that names the rendering library.
export { html, render, useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback } from '../vendor/preact-htm.js';
