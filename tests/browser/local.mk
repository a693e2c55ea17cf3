# timelines and pages in a real browser
TESTS += tests/browser/test_browser.sh tests/browser/test_html.sh
dist_check_SCRIPTS += tests/browser/test_browser.sh tests/browser/test_html.sh
EXTRA_DIST += tests/browser/panel.mjs tests/browser/html.mjs tests/browser/modules.sh tests/browser/README.md tests/browser/package.json \
	tests/browser/package-lock.json
