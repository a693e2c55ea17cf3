# timelines in a real browser
TESTS += tests/browser/test_browser.sh
dist_check_SCRIPTS += tests/browser/test_browser.sh
EXTRA_DIST += tests/browser/panel.mjs tests/browser/package.json tests/browser/package-lock.json
